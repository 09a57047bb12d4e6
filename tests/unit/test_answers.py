"""What is covered while answers are hidden: as the views declare it, and nothing else."""

import pytest

from explorer.export.place import slug
from explorer.page.controls import ANSWER
from explorer.tabs import TABS, VIEWS

ANSWERS = {slug(f"{view.name}/{name}") for view in VIEWS.values() for name, part in view.parts.items() if part.answer}
SHEETS = {slug(f"{tab.id}/{name}") for tab in TABS for view in tab.views for name, one in view.settings.items() if one.answer}


@pytest.fixture(scope="module")
def covered(page):
    """The ids of what the page may cover."""
    return {block.elem_id for block in page[0].blocks.values() if ANSWER in (getattr(block, "elem_classes", None) or [])}


def test_findings_and_declared_answers_are_covered_and_nothing_else(covered):
    findings = {name for name in covered if name.endswith("-finding")}
    assert len(findings) >= 10
    assert covered - findings == ANSWERS | SHEETS | {"says", "suggestion"}, "the line below the bar says what the model says"


@pytest.mark.parametrize(
    "name", ["fill-mask-guesses-guesses", "fill-mask-lens-table", "next-sentence-pair-verdict", "own-head-labels-verdict"]
)
def test_what_the_model_says_is_an_answer(covered, name):
    assert name in covered


def test_what_shows_how_it_gets_there_is_none(covered):
    pictures = {"head_grid", "lines", "tokens", "architecture"}
    drawn = {slug(f"{view.name}/{name}") for view in VIEWS.values() for name, part in view.parts.items() if part.kind in pictures}
    assert not covered & {*drawn, "attention-head-heatmap", "inside-head-dots-table"}
