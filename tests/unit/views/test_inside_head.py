import numpy as np
import pytest

from explorer.views.inside_head import TAB
from explorer.views.inside_head.positions import Positions
from explorer.views.inside_head.steps import MOST_KEYS, DotProducts, WholeLayer, strongest
from explorer.views.subject import Selection, Subject

TEXTS = ("The man went to the [MASK] store.", "He bought a gallon of milk!")


@pytest.fixture(params=["bundled", "tiny"])
def subject(request):
    return Subject.of(request.getfixturevalue(request.param).trace(*TEXTS), Selection(layer=2, head=2, token=2))


def test_every_part_that_is_computed_is_declared_and_every_check_is_passed(subject):
    for view in TAB.views:
        shown = view().compute(subject)
        assert set(shown) <= set(view.parts), view.name
        assert "check" not in shown or shown["check"]["text"].startswith("✓ matches the model"), view.name


def test_a_row_for_each_key_between_the_query_and_the_sum(subject):
    shown = DotProducts().compute(subject)
    assert len(shown["table"]["rows"]) == subject.trace.kept + 2
    assert shown["about"].startswith("'man' (token 2) asks, every token answers: layer 2, head 2")
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
