import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.inside_head.batch import MOST_TOKENS, InABatch
from explorer.inside_head.positions import Positions
from explorer.inside_head.steps import MOST_KEYS, DotProducts, WholeLayer, strongest
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Selection, Subject
from explorer.ui.view import Change

TEXTS = ("The man went to the [MASK] store.", "He bought a gallon of milk!")


@pytest.fixture
def subject(model):
    return Subject.of(model.trace(*TEXTS), Selection(layer=2, head=2, token=2))


def test_a_row_for_each_key_between_the_query_and_the_sum(subject):
    shown = DotProducts().compute(subject)
    assert len(shown["table"]["rows"]) == subject.trace.kept + 2
    assert shown["about"].startswith("'man' (token 2) is the query, every token a key: layer 2, head 2")
    assert DotProducts().on_table(subject, 3).selection == {"token": 3}


def test_of_many_keys_the_strongest_are_shown(bundled):
    subject = Subject.of(bundled.trace("the old bank by the river " * 20))
    shown = DotProducts().compute(subject)
    assert len(shown["table"]["rows"]) == MOST_KEYS + 2
    assert f"The 32 strongest of {subject.trace.kept} keys are shown." in shown["about"]
    np.testing.assert_array_equal(strongest(np.array([0.1, 0.4, 0.1, 0.3, 0.1]), 3), [0, 1, 3])


def test_the_chosen_head_is_outlined_where_all_stand_side_by_side(bundled):
    subject = Subject.of(bundled.trace(*TEXTS), Selection(layer=3, head=5))
    rows = WholeLayer().compute(subject)["table"]["rows"]
    assert [row["marked"] for row in rows if row["marked"]] == [[128, 160]]
    assert [row["cells"][0] for row in rows if row["strong"]] == ["hidden state 2", "hidden state 3"]


def test_of_many_positions_every_few_are_drawn(bundled, tiny):
    bundled, tiny = (Subject.of(model.trace(*TEXTS)) for model in (bundled, tiny))
    assert "Every 4th position is drawn." in Positions().compute(bundled)["about"]
    assert len(Positions().compute(tiny)["learned"].data[0].z) <= 128


def test_the_shorter_input_is_filled_up_and_nobody_looks_there(bundled):
    view, start = InABatch(second="The dog ran home, for it was late."), Subject.of(bundled.trace("Thank you!"))
    subject = view.first(start)
    shown, told = view.compute(subject), view.finding(subject).text
    assert shown["about"].startswith("A rectangle of 2 × 12 for the 5 tokens of the input above and the 12 of the second one: 7")
    assert "7 places, 29.2% of them all, are padding" in shown["about"]
    cells = {
        name: [one["text"] for one in row] for name, row in zip(shown["batch"]["rows"], shown["batch"]["cells"], strict=True)
    }
    assert cells["tokens 1"] == ["[CLS]", "thank", "you", "!", "[SEP]", *["[PAD]"] * 7]
    assert cells["ids 1"][5:] == ["0"] * 7
    assert (cells["mask 1"], cells["mask 2"]) == (["1"] * 5 + ["0"] * 7, ["1"] * 12)
    assert shown["batch"]["marked"] == 5, "where filling up begins"
    rows = shown["weights"]["rows"]
    assert [row["cells"][1:3] for row in rows[-7:]] == [["0", "−∞"]] * 7
    first = numbers_of(view.compute(subject.select(layer=1))["weights"]).rows  # no padding was read before it
    assert [row[4:8] for row in first[4:6]] == [(4, "[SEP]", 1, pytest.approx(first[4][9])), (5, "[PAD]", 0, None)]
    assert [row["token"] for row in rows[1:]] == [0, 1, 2, 3, 4, *[None] * 7]
    with_mask, without = (float(row["cells"][1]) for row in shown["moved"]["rows"])  # what goes to [PAD]
    assert (with_mask, without > 0.5) == (0, True)
    assert f"gives {without:.0%} of its weight to the 7 [PAD]s of the shorter input (layer 5, head 6); with it, none." in told
    assert shown["check"]["text"].startswith("✓ matches the model")
    leaks = view.read_together(subject).leaks[..., 1:4].mean(2)
    assert leaks[subject.selection.attention_layer, subject.selection.head_index] == leaks.max()
    assert view.first(start.select(layer=2, head=3)).selection.head == 3, "what was picked stays"
    assert "1 place, 8.3% of them all, is padding" in InABatch(second="Thank you very!").compute(start)["about"]


def test_a_click_lets_a_token_of_the_first_input_ask(subject):
    longer, shorter = InABatch(second="he was happy " * 12), InABatch(second="he was sad")
    assert longer.on_weights(subject, 3).selection == {"token": 3}
    assert "(token 3 of the first input) is the query" in longer.compute(subject.select(token=3))["asked"]
    assert shorter.on_weights(subject, 3) == Change()
    asked = shorter.compute(subject.select(token=4))["asked"]
    assert "of the second input) is the query" in asked
    assert "Click" not in asked


def test_of_one_length_nothing_is_filled_up(subject):
    view = InABatch(second=f"{subject.text_a} {subject.text_b}")
    subject = Subject.of(subject.model.trace(view.second))
    shown = view.compute(view.first(subject))
    assert shown["about"].endswith("of the second one: nothing is filled up.")
    assert (shown["weights"], shown["moved"], shown["check"], shown["batch"]["marked"]) == (None, None, None, None)
    assert "so nothing is filled up" in view.finding(subject).text


def test_what_is_too_long_or_empty_is_one_sentence(tiny, refusal):
    subject = Subject.of(tiny.trace("the man went"))
    for second in ("", " ", "the man " * MOST_TOKENS, "\u200b"):
        view = InABatch(second=second)
        refusal(InputError, lambda view=view: view.compute(subject))
        assert view.first(subject).selection == subject.selection
    with pytest.raises(InputError, match=r"The second input has 258 tokens, and a batch is drawn up to 128\."):
        InABatch(second="the man " * MOST_TOKENS).compute(subject)
    long = Subject.of(tiny.trace("the man " * MOST_TOKENS))
    assert InABatch().unless(long) == "This input has 258 tokens, and a batch is drawn up to 128. Shorten the text."
    refusal(InputError, lambda: InABatch().on_weights(subject, "a"))
    refusal(InputError, lambda: InABatch.read({"second": "a" * 30_000}, tiny.capabilities))
