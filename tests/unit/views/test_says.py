"""What the model says now, beside the input in every tab, is what transformers' own forward pass says."""

import pytest

from explorer.bert import checkpoints
from explorer.fill_mask.positions import EachWord
from explorer.techniques.ablation import Run
from explorer.ui.answers import SURPRISING, changes_of, prepare, says_of
from explorer.ui.pictures.bars import percent, whole_percent
from explorer.ui.subject import CHANGES, Selection, Subject

JAPAN, CITY = "The capital of Japan is [MASK].", "It is a city of temples and skyscrapers."


def subject(text_a=JAPAN, text_b=CITY, **chosen):
    return Subject(checkpoints.default_name(), text_a, text_b, Selection(**chosen))


def test_it_says_the_first_guess_and_whether_b_follows(bundled):
    about = subject()
    blank, pair = says_of(about)["answers"]
    share = float(bundled.own_masked_lm(about.trace.encoding)[6].softmax(-1).max())
    assert blank == {"asked": "[MASK]", "answer": "tokyo", "share": whole_percent(share)}
    share = float(bundled.own_pair(about.trace.encoding).softmax(-1)[0])
    assert pair == {"asked": "", "answer": "IsNext", "share": whole_percent(share)}


@pytest.mark.parametrize("changed", [{"off": ((5, 5),)}, {"cut": ((5, 6, 4, None),)}, {"swap": ("Japan", "France")}], ids=str)
def test_after_a_change_it_says_what_was_before_and_offers_the_way_back(bundled, changed):
    about = subject(**changed)
    (blank, *_), before = says_of(about)["answers"], says_of(subject())["answers"][0]
    assert blank["before"] == f"{before['answer']} {before['share']}"
    states = Run(about.swapped.trace, about.selection.off, cuts=about.selection.cut).states[-1]
    (guess,) = bundled.guesses(states[[6]], [6], 1)[0].candidates
    assert (blank["answer"], blank["share"]) == (guess.token, whole_percent(guess.probability))
    assert changes_of(about)["label"].startswith("1 ")
    assert changes_of(about.select(**CHANGES)) is None
    assert says_of(about.select(**CHANGES))["answers"][0] == before


def test_dashes_are_told_to_be_no_blank(bundled):
    assert says_of(subject("The capital of Japan is __.", ""))["dashes"]
    assert says_of(subject(JAPAN, "It is ____."))["dashes"], "beside a blank, too"
    assert "dashes" not in says_of(subject("snake_case is no blank.", ""))


def test_without_a_blank_it_says_which_word_is_expected_least(bundled):
    about = subject("I love pizza.", "")
    said = says_of(about)
    trace, shares, guesses = about.trace, {}, {}
    for place in range(1, trace.kept - 1):
        start, end = trace.encoding.offsets[place]
        hidden = bundled.encode(f"{about.text_a[:start]}[MASK]{about.text_a[end:]}")
        found = bundled.own_masked_lm(hidden)[place].softmax(-1)
        shares[place], guesses[place] = float(found[trace.ids[place]]), found.max(-1)
    order = sorted(shares, key=shares.get)
    expected = [place for rank, place in enumerate(order) if shares[place] < SURPRISING or rank == 0]
    words = said["unexpected"]["words"]
    assert [one["token"] for one in words] == expected
    assert said["answers"] == []
    first, (share, best) = words[0], guesses[expected[0]]
    assert (first["word"], first["share"]) == (trace.tokens[expected[0]], percent(shares[expected[0]]))
    assert (first["guess"], first["guess_share"]) == (bundled.pieces([int(best)])[0], whole_percent(float(share)))
    assert said["unexpected"]["of"] == " ".join(trace.tokens)
    assert not said["unexpected"]["partly"]
    rows, best = EachWord().compute(about)["words"]["groups"][0]["rows"], [int(one[1]) for one in guesses.values()]
    assert [row["share"] for row in rows] == pytest.approx([*shares.values()], abs=1e-5)
    for row, guess in zip(rows, bundled.pieces(best), strict=True):
        assert row["note"].startswith("the first guess" if guess == row["label"] else f"rather {guess}, ")
    assert EachWord().finding(about).text.startswith(f"“{first['word']}” is expected least")


def test_of_a_long_input_the_sentence_of_the_chosen_token_is_asked_for(bundled):
    about = subject("She saw the sea. " * 60 + "The green idea sleeps.", "")
    about = about.select(token=about.trace.kept - 4)
    list(prepare(about))
    said = says_of(about)["unexpected"]
    assert said["partly"]
    assert {one["token"] for one in said["words"]} <= set(range(about.trace.kept - 6, about.trace.kept - 1))


def test_an_empty_text_says_nothing(bundled):
    assert says_of(subject("", "")) is None
    assert changes_of(subject("", "", off=((0, 0),)))["label"] == "1 head off"


def test_several_changes_are_counted(bundled):
    about = subject(off=((0, 0), (1, 1)), cut=((5, 6, 4, None),), swap=("Japan", "France"))
    assert changes_of(about)["label"] == "2 heads off, 1 route cut, 1 word swapped"
