"""What the page says of a run: no more than its test shows; and the methods section, whose program computes the run again."""

import re
import string

import numpy as np
import pytest

import explorer
from explorer.analysis.resampling import FEWEST_GROUPS
from explorer.experiments.compute.experiment import QUESTIONS, Experiment, experiment
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.summary import LEAST_P
from explorer.experiments.pictures import beside
from explorer.experiments.sentences import CITED, PROGRAM, TESTS, facts, find, methods, references, tell
from explorer.ui.pictures.numbers import numbers_of
from tests.unit.test_experiment_questions import BOTH

CAUSAL = re.compile(r"\b(because|causes?|decides?|drives?|changes?|brings? back|without|loses?|through)\b")
OBSERVES = ("lens", "attention", "routes", "attribution", "likelihood")
EFFECTS = {"nothing": 0.0, "small": 0.02, "large": 2.0}


def made(question, effect, items=40, groups=(), shuffled=0.001):
    """A run with the same effect at all places, and noise of 0.5."""
    kind, random = QUESTIONS[question], np.random.default_rng(0)
    shape = {"lens": (7,), "routes": (7,), "attribution": (5,), "likelihood": (3,)}.get(question, (7, 3))
    shape = {"erase": (7, 2), "direction": (7, 6)}.get(question, shape)
    sign = -1 if QUESTIONS[question].below else 1
    values = random.normal(sign * effect, 0.5, (items, *shape))
    if kind.is_hit:
        values = (values > 1).astype(float)
    asked = tuple(Item(f"a text {row} [MASK]", "", "is", "are", group=str(groups[row]) if groups else "") for row in range(items))
    provenance = {"question": question, "how": next(iter(kind.ways)), "seed": 0}
    nulls = np.zeros_like(values) + (0.2 if kind.is_hit else 0)
    nulls = None if question in ("heads_off", "attribution_patching", "lens", "likelihood") else nulls
    also = {name: np.where((random.random(shape) < 0.5) & (name == "exact"), np.nan, values) for name in kind.also}
    also |= {LEAST_P: np.full_like(values, shuffled)} if LEAST_P in kind.also else {}
    pieces = (("is", "are"),) * items
    return Experiment(asked, pieces, np.full(items, 3.0), values, provenance, nulls, also=also)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_finding_says_no_more_than_its_test_shows(question):
    template, names = QUESTIONS[question].finding, set()
    for _, name, _, _ in string.Formatter().parse(template):
        names.add(name)
    assert "doubt" in names
    assert names & {"by_effect", "by_size", "by_share"}, "an interval, or that there is none"
    if question in OBSERVES:
        assert not CAUSAL.search(template), "it changes nothing, so it shows no cause"
    if question == "attribution_patching":
        assert "estimate" in template
        assert "Exact" in names
    for name, effect in EFFECTS.items():
        found = made(question, effect)
        held, told = found.summary.held_out, tell(found)
        assert ("not certain" in told) == (not held.is_sure), (name, told)
        if name == "large" and not found.question.is_hit:
            assert held.is_sure, told
    few = made(question, 2.0, groups=[row % 8 for row in range(40)])
    assert few.summary.held_out.groups < FEWEST_GROUPS
    assert "no interval from 4 groups" in tell(few)
    assert "not certain" in tell(few)


def test_a_direction_is_not_certain_where_shuffled_classes_do_as_much():
    assert "not certain" not in tell(made("direction", 2.0))
    assert "not certain" in tell(made("direction", 2.0, shuffled=0.3))
    assert made("direction", 2.0, shuffled=np.nan).summary.p.min() == 1, "a file may have any numbers"


def test_a_finding_of_nothing_says_so():
    found = made("heads_off", 0.0)
    found.values[:] = 1e-6 * found.values
    assert find(found).text.startswith("Nothing stands out")


def test_every_name_of_a_finding_is_a_fact():
    given = facts(made("heads_off", 1.0)).keys()
    for telling in QUESTIONS.values():
        assert {name for _, name, _, _ in string.Formatter().parse(telling.finding) if name} <= given


def test_every_paper_that_is_cited_has_its_reference():
    cited = {one for telling in QUESTIONS.values() for one in CITED.findall(telling.help.replace("*", "") + TESTS)}
    assert cited <= references().keys()
    assert len(cited) > 8


@pytest.mark.parametrize(("question", "how"), [("patching", "residual"), ("heads_off", "mean"), ("erase", "words")])
def test_the_program_of_a_saved_run_gives_the_same_numbers(tiny, tmp_path, monkeypatch, capsys, question, how):
    monkeypatch.chdir(tmp_path)
    found = experiment(tiny, [*BOTH, Item("the man [MASK]", "", "man", "dog")], question, how, seed=3)
    explorer.save_experiment(found, "run.json")
    code = PROGRAM.format(name="run.json", model=found.provenance["model"])
    assert code.count("\n") <= 30
    space = {}
    exec(compile(code, "program", "exec"), space)
    np.testing.assert_array_equal(space["again"].summary.selected, found.summary.selected)
    assert space["again"].left_out == found.left_out
    assert len(space["again"].table) == found.summary.q.size
    assert "HeldOut(" in capsys.readouterr().out


def test_the_methods_section_names_what_made_the_run(tiny):
    found = experiment(tiny, BOTH, "attribution_patching", "heads")
    text, made_by = methods(found, "mine.json"), found.provenance
    for part in ("Syed, A.", "Benjamini, Y.", made_by["torch"], made_by["weights"][:16], "4 items", "seed 0", "'mine.json'"):
        assert part in text, part
    assert tell(found) in text
    assert "Belrose" not in text
    table = found.table
    assert list(table["layer"]) == [1, 1, 2, 2]
    np.testing.assert_allclose(table["effects"], found.summary.effects.ravel())
    assert {"exact", "q", "low"} <= set(table.columns)


def test_the_second_picture_has_what_else_was_measured():
    for question, columns in (
        ("erase", ("hidden_state", "probe before", "probe after")),
        ("direction", ("dose", "towards the foil, hidden state 2", "a random direction")),
        ("attribution_patching", ("place", "estimate", "exact")),
    ):
        found = made(question, 1.0)
        table = numbers_of(beside(found, (2, 1)))
        assert table.columns == columns
        if question == "erase":
            np.testing.assert_allclose(table.cells[1], found.also_means["probe before"][:, 1])
        elif question == "direction":
            np.testing.assert_allclose(table.cells[1], found.summary.effects[2, :-1])
        else:
            measured = ~np.isnan(found.also_means["exact"])
            np.testing.assert_allclose(table.cells[1], found.summary.effects[measured])
            np.testing.assert_allclose(table.cells[2], found.also_means["exact"][measured])
    assert beside(made("lens", 1.0), (2,)) is None
