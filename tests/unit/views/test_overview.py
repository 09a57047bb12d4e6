"""All of BERT in one picture: what it says is what the numbers below it and transformers itself say."""

from pathlib import Path

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.overview.pictures import HEAD_LEVELS, LEVELS, TOLD
from explorer.overview.routes import Routes
from explorer.overview.run import ROWS
from explorer.overview.trust import MEASURED, Trust
from explorer.techniques import targets
from explorer.techniques.routes import Route, head_shares, place_shares, strongest_heads
from explorer.techniques.run_mixing import mixing
from explorer.ui.pictures.numbers import kept
from explorer.ui.subject import Selection, Subject

ROOT = Path(__file__).resolve().parents[3]
JAPAN, CITY = "The capital of Japan is [MASK].", "It is a city of temples and skyscrapers."
LONG = "The committee met again on Monday to discuss the report that the minister had asked for. " * 20


def subject(text_a=JAPAN, text_b=CITY, model="", **chosen):
    from explorer.bert import checkpoints

    return Subject(model or checkpoints.default_name(), text_a, text_b, Selection(**chosen))


def picture(about, **settings):
    return Routes(**settings).compute(about)["picture"]


def mixing_in(value):
    import base64

    rows, layers = len(value["tokens"]), value["states"] - 1
    return np.frombuffer(base64.b64decode(value["mixing"]), "<u2").reshape(layers, rows, rows) / LEVELS


def test_it_carries_the_mixing_of_every_layer(bundled):
    about = subject()
    value = picture(about)
    np.testing.assert_allclose(mixing_in(value), mixing(about.trace).shares, atol=1 / LEVELS)
    assert value["tokens"] == list(about.trace.tokens)


def test_the_words_of_the_last_state_are_the_models_own_predictions(bundled):
    about = subject()
    value = picture(about)
    own = bundled.own_masked_lm(about.trace.encoding).softmax(-1)
    for row, words in enumerate(value["words"][-1]):
        best = own[row].topk(5)
        assert [word for word, _ in words] == bundled.pieces(best.indices.tolist())
        assert [share for _, share in words] == pytest.approx(best.values.tolist(), abs=1e-5)


def test_the_answers_are_those_of_transformers(bundled):
    about = subject()
    pair, blank = picture(about)["answers"]
    own = bundled.own_pair(about.trace.encoding).softmax(-1).tolist()
    assert [bar[1] for bar in pair["bars"]] == pytest.approx(own, abs=1e-5)
    assert blank["bars"][0][0] == "tokyo"
    assert all(before is None for *_, before in [*pair["bars"], *blank["bars"]])


@pytest.mark.parametrize(
    ("text_a", "text_b", "opens_on"), [(JAPAN, CITY, "[MASK]"), ("The cat sat.", "It slept.", "[CLS]"), ("Yes", "", "yes")]
)
def test_it_opens_on_the_blank_else_on_a_pair_else_on_a_word(bundled, text_a, text_b, opens_on):
    value = picture(subject(text_a, text_b))
    assert value["tokens"][value["target"]["row"]] == opens_on
    assert value["target"]["state"] == bundled.capabilities.layers


@pytest.mark.parametrize("text", ["The animal did not cross the street because it was too tired.", "I love pizza."])
def test_without_blank_or_pair_it_opens_on_the_word_that_takes_most_from_others(bundled, text):
    about = subject(text, "")
    words = about.trace.encoding.text_positions[:-1]  # the full stop is none
    own = [place_shares(mixing(about.trace).shares, place)[0, place] for place in words]
    assert picture(about)["target"]["row"] == words[int(np.argmin(own))]


def test_a_hidden_state_is_followed_of_the_token_that_was_chosen_with_it(bundled):
    change = Routes().on_picture(subject(), {"state": 3, "token": 4})
    assert picture(subject(**change.selection), **change.settings)["target"] == {"state": 3, "row": 4}
    assert picture(subject(), state=3)["target"] == {"state": 6, "row": 6}, "another text: no token is chosen"


def test_the_finding_names_the_strongest_route_of_each_token(bundled):
    about = subject()
    found = Routes().finding(about)
    table = kept(picture(about)).rows
    others = [row for row in table if row[1] != row[3] and row[3] != 6]
    strongest = others[0]
    assert f"“{strongest[4]}” in layer {strongest[0]}" in found.text
    assert "“[MASK]” becomes “tokyo”" in found.text
    assert (found.why.selection["layer"], found.why.selection["token"]) == (strongest[0], strongest[1])
    route = Route(strongest[0] - 1, strongest[1], strongest[3], 0.0)
    (own,) = strongest_heads(about.trace, [route])
    assert found.why.selection["head"] - 1 == own, "it leads to the head that brings most of that route"


def test_the_heads_of_a_route_and_of_a_layer_sum_to_what_the_picture_shows(bundled):
    about = subject()
    shares = mixing(about.trace).shares
    route = picture(about, opened=(6, 6, 4))["route"]
    assert sum(head["share"] for head in route["heads"]) == pytest.approx(float(shares[5, 6, 4]), abs=1e-5)
    inside = picture(about, opened=(6,))["inside"]
    taken = 1 - float(shares[5, 6, 6])
    assert inside["kept"] == pytest.approx(1 - taken, abs=1e-6)
    assert len(inside["heads"]) == bundled.capabilities.heads
    assert inside["neurons"]
    assert inside["guess"] == "tokyo"


@pytest.mark.nightly  # by day, the file of the Overview in test_page_file
def test_a_file_has_the_heads_of_every_route_of_a_short_input(bundled):
    import base64

    about = subject(off=((1, 2),))
    view = Routes()
    alone = view.standing_alone(about, view.compute(about), unfolded=True)["picture"]
    packed, heads = alone["heads"], bundled.capabilities.heads
    found = np.frombuffer(base64.b64decode(packed["parts"]), "<i2").reshape(-1, heads) * packed["largest"] / HEAD_LEVELS
    routes = np.argwhere(mixing_in(alone) >= TOLD)
    assert len(routes) == len(found) > 100
    for route, parts in [*zip(routes, found, strict=True)][::25]:
        layer, query, key = route.tolist()
        own = head_shares(about.trace, layer, query, off=about.selection.off)[:-1, key]
        np.testing.assert_allclose(parts, own, atol=packed["largest"] / HEAD_LEVELS)
    assert "a line to see its heads" in alone["said"]
    long = subject(LONG[:180], "")
    alone = view.standing_alone(long, view.compute(long), unfolded=True)["picture"]
    assert alone["heads"] is None
    assert "a line" not in alone["said"].partition("Click")[2]


def test_a_cut_is_shown_beside_what_was_before_and_is_put_back_by_the_same_click(bundled):
    about = subject()
    change = Routes().on_picture(about, {"cut": [6, 6, 4, 0]})
    assert change.selection == {"cut": ((5, 6, 4, None),)}
    after = about.select(**change.selection)
    value = picture(after)
    blank = value["answers"][-1]
    was = {word: before for word, _, before in blank["bars"]}
    target = targets.word_target(about.trace, "tokyo")
    own = float(targets.own_reading(about.trace, target).probability)
    assert was["tokyo"] == pytest.approx(own, abs=1e-5)
    assert mixing_in(value)[5, 6, 4] == 0
    assert value["before"][6][6] == "tokyo"
    assert Routes().on_picture(after, {"cut": [6, 6, 4, 0]}).selection == {"cut": ()}


def test_a_long_input_has_a_row_for_all_that_has_none_and_loses_nothing(bundled):
    about = subject("The capital of Japan is [MASK]. " + LONG, "")
    value = picture(about)
    assert len(value["tokens"]) == ROWS + 1
    assert value["elsewhere"]
    assert value["mixing"] is None
    np.testing.assert_allclose(np.sum(value["shares"], axis=1), 1, atol=0.01)
    assert value["tokens"][value["target"]["row"]] == "[MASK]"
    assert "japan" in value["tokens"]


NOT_CLICKED = [
    None,
    {},
    [],
    "x",
    {"cut": [1]},
    {"cut": 3},
    {"cut": [99, 0, 0, 0]},
    {"route": [1, 2]},
    {"unfold": 99},
    {"state": 3},
]


@pytest.mark.parametrize("index", [*NOT_CLICKED, {"state": 3, "token": 500}, {"off": [1, 99]}, {"off": 4}, {"open": 1}], ids=repr)
def test_what_cannot_be_clicked_is_refused_with_a_sentence(bundled, index):
    with pytest.raises(InputError):
        Routes().on_picture(subject(), index)


def test_the_test_of_trust_names_the_word_that_costs_most(bundled):
    about = subject()
    (said,) = Trust().on_test(about, None).content.values()
    assert "rank correlation" in said
    assert "“japan” costs most" in said
    with pytest.raises(InputError):
        Trust().on_test(subject("Yes.", ""), None)


def test_what_the_page_says_of_many_sentences_is_what_the_guide_says(guide):
    names = {"routes": "routes (ALTI, multiplied backwards)", "attention": "attention of the last layer, mean over heads"}
    for method, name in names.items():
        assert f"| {name} | {MEASURED[method]} |" in guide["benchmarks"]
