"""The notion of a view: what it declares, what is checked, what the page makes of it, and what it shows first or as an answer."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.bert.capabilities import Capabilities
from explorer.core.errors import InputError
from explorer.core.limits import Limit
from explorer.export.place import slug
from explorer.page.controls import ANSWER
from explorer.tabs import TABS, VIEWS
from explorer.ui.settings import Memory, choice, memory, number, several, switch, text
from explorer.ui.subject import Subject
from explorer.ui.tabs import views_in
from explorer.ui.view import View, button, caption, chart, settle

CAN = ("fill_mask", "next_sentence", "replaced", "segments", "positions", "pooler", "own_layers")
CAPABILITIES = Capabilities(6, 12, 1536, 384, 1000, 1, 512, **dict.fromkeys(CAN, True))


class Sample(View):
    """Every kind of setting."""

    name, question = "test/sample", "What is it?"
    lead = caption("**Hello**")
    look: str = choice(("Heatmap", ("As lines", "lines")))
    picture = chart("A picture")
    layer: int = number(6, "Layer", low=1, high=lambda model: model.layers)
    share: float = number(0.5, "Share", low=0, high=1, step=0.05)
    heads: tuple[int, ...] = several(label="Heads", options=lambda model: range(1, model.heads + 1))
    wide: bool = switch(False, "Wide")
    word: str = text("", "Word", limit=Limit(10, "{What} is too long; shorten it."))
    seed: int = memory(0, kept=lambda value: value if isinstance(value, int) else 0)
    again = button("Again")

    def on_again(self, subject, _):
        return settle(seed=self.seed + 1)


class Derived(Sample):
    name = "test/derived"
    more = caption("below")


def test_what_is_declared_stands_in_the_order_of_the_class():
    assert list(Sample.names) == [*("lead", "look", "picture", "layer", "share", "heads", "wide", "word", "seed", "again")]
    assert list(Sample.settings) == ["look", "layer", "share", "heads", "wide", "word", "seed"]
    assert list(Sample.parts) == ["lead", "picture", "again"]
    assert list(Derived.names) == [*Sample.names, "more"]
    assert set(Sample.listens_to()) == {"again"}


def test_a_bound_that_depends_on_the_model_takes_what_lies_past_it():
    assert Sample.read({"layer": 99}, CAPABILITIES).layer == 6
    assert Sample.read({"layer": 0}, CAPABILITIES).layer == 1
    assert Sample.read({"layer": None}, CAPABILITIES).layer == 1
    assert Sample.read({"layer": 6}, replace(CAPABILITIES, layers=1)).layer == 1
    assert Sample.read({"heads": [2, 99, 1, 2]}, CAPABILITIES).heads == (1, 2)


@pytest.mark.parametrize(
    "given",
    [
        {"look": "nothing"},
        {"look": ["lines"]},
        {"layer": "three"},
        {"layer": float("nan")},
        {"layer": True},
        {"share": 1.5},
        {"share": float("inf")},
        {"share": "0.5"},
        {"heads": "1, 2"},
        {"heads": [1.5]},
        {"heads": [True]},
        {"wide": 1},
        {"wide": "no"},
        {"word": 5},
        {"word": "much too long for it"},
        {"word": "\ud800"},
        {"no such": 1},
    ],
)
def test_what_makes_no_sense_is_one_sentence(given, refusal):
    refusal(InputError, lambda: Sample.read(given, CAPABILITIES))


def test_a_memory_lets_nothing_through_that_is_of_no_use():
    assert Sample.read({"seed": {"__proto__": 1}}, CAPABILITIES).seed == 0


def test_every_view_asks_a_question_under_a_name_of_its_own():
    views = [view for tab in TABS for view in tab.views]
    assert len(VIEWS) == len(views)
    for view in views:
        assert view.name.count("/") == 1, view
        assert view.question.endswith("?"), view.name
        assert view.__doc__, view.name


def test_a_name_is_one_setting_within_a_tab():
    for tab in TABS:
        known, whens = {}, {}
        for view in tab.views:
            for name, setting in view.settings.items():
                same = replace(setting, here=True, when=None)
                assert known.setdefault(name, same) == same, (tab.id, view.name, name)
                if setting.here:  # who shows the control says when
                    assert whens.setdefault(name, setting.when) == setting.when, (tab.id, view.name, name)
        shown = {name for view in tab.views for name, setting in view.settings.items() if setting.here}
        assert shown == set(known), "somebody shows the control"


def test_what_is_laid_out_is_declared():
    for view in VIEWS.values():
        laid_out = [name for line in view.layout for name in line.names]
        assert set(laid_out) <= set(view.names), view.name
        assert len(laid_out) == len(set(laid_out)), f"{view.name}: each stands in one place"


def test_a_part_and_a_setting_have_different_names():
    with pytest.raises(TypeError, match="'word'"):

        class Twice(Sample):
            word = caption("below")


def test_the_view_that_contributing_shows_is_one_and_matches_the_model(bundled):
    page = Path(__file__).resolve().parents[3] / "assets" / "guide" / "contributing" / "view.md"
    (code,) = re.findall(r"<!-- a view -->\n```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    defined: dict = {"__name__": "example"}
    exec(compile(code, str(page), "exec"), defined)
    (view,) = (one for one in defined.values() if isinstance(one, type) and issubclass(one, View) and one.__module__ == "example")
    shown = view.read({"in_layer": 6}, bundled.capabilities).compute(Subject.of(bundled.trace("The cat sat on the mat.")))
    assert shown["check"]["text"].startswith("✓ matches the model")
    assert [len(group["rows"]) for group in shown["shares"]["groups"]] == [bundled.capabilities.heads]


MOST = 3  # choices beside a question
LINE = 60  # characters of a question in the menu, which are one line


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_a_tab_shows_few_of_its_choices_and_asks_with_the_rest(tab):
    first = list(tab.choices)[: tab.in_sight]
    assert len(first) <= MOST
    assert [*first, *tab.behind_more] == list(tab.choices)
    assert len(tab.behind_more) != 1, "one choice needs no menu"
    for question in tab.behind_more.values():
        assert question.endswith("?")
        assert len(question) <= LINE


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_a_setting_that_several_choices_read_is_declared_as_shared(tab):
    """Otherwise it would be a part of one of them, and out of sight in the others."""
    above = {name for view in tab.above for name in view.names}
    controls = [
        {name for view in views_in(rows) for name, setting in view.settings.items() if not isinstance(setting, Memory)}
        for rows in tab.choices.values()
    ]
    read = Counter(name for of_choice in controls for name in of_choice)
    assert {name for name, count in read.items() if count > 1} - above == {name for line in tab.shared for name in line}


ANSWERS = {slug(f"{view.name}/{name}") for view in VIEWS.values() for name, part in view.parts.items() if part.answer}
SHEETS = {slug(f"{tab.id}/{name}") for tab in TABS for view in tab.views for name, one in view.settings.items() if one.answer}


@pytest.fixture(scope="module")
def covered(page):
    return {block.elem_id for block in page[0].blocks.values() if ANSWER in (getattr(block, "elem_classes", None) or [])}


def test_findings_and_declared_answers_are_covered_and_nothing_else(covered):
    findings = {name for name in covered if name.endswith("-finding")}
    assert len(findings) >= 10
    assert covered - findings == ANSWERS | SHEETS | {"says", "suggestion"}, "the line below the bar says what the model says"


def test_what_the_model_says_is_an_answer(covered):
    assert covered >= {f"fill-mask-{name}" for name in ("guesses-guesses", "lens-table")}
    assert covered >= {f"{name}-verdict" for name in ("next-sentence-pair", "own-head-labels")}


def test_what_shows_how_it_gets_there_is_none(covered):
    pictures = {"head_grid", "lines", "tokens", "architecture"}
    drawn = {slug(f"{view.name}/{name}") for view in VIEWS.values() for name, part in view.parts.items() if part.kind in pictures}
    assert not covered & {*drawn, "attention-head-heatmap", "inside-head-dots-table"}
