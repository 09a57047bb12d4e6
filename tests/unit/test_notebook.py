"""The views in a notebook: what is shown is the page file in a frame, names and settings are checked, and the notebook runs."""

import ast
import base64
import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.core.errors import InputError
from explorer.experiments.compute.runs import find_shipped
from explorer.export import notebook
from explorer.tabs import VIEWS
from tests.pages import Reader

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "assets" / "notebooks"


@pytest.fixture(scope="module")
def trace(bundled):
    return bundled.trace("The man went to the [MASK].", "He bought <b>milk</b>.")


def data(shown):
    """The data of the page within the frame that a notebook draws."""
    (page,) = re.findall(r'srcdoc="([^"]*)"', shown._repr_html_())
    return Reader(html.unescape(page)).data


def test_what_is_shown_is_the_head_that_was_asked_for(trace):
    shown = trace.show("attention/head", layer=6, head=11)
    (side,) = data(shown)["sides"]
    parts = {part["name"]: part["value"] for part in side["views"][0]["parts"]}
    assert parts["title"].startswith("**Layer 6, head 11**")
    told = np.frombuffer(base64.b64decode(parts["heatmap"]["data"][0]["customdata"]["bdata"]), np.float32)
    assert np.abs(told.reshape(trace.kept, trace.kept) - trace.attention(5)[10]).max() == 0


def test_two_traces_stand_side_by_side(trace, bundled):
    other = bundled.trace("The woman slept.")
    sides = data(explorer.compare(trace, other, "attention/head", layer=2, head=3, look="Lines"))["sides"]
    assert [side["texts"][0] for side in sides] == ["The man went to the [MASK].", "The woman slept."]


def test_settings_are_listed_and_taken(bundled, trace):
    assert {"look", "top_p", "layer"} < set(explorer.settings("attention/head", bundled)["setting"])
    assert list(explorer.settings()["view"]) == list(VIEWS)
    shown = trace.show("attention/head", look="Lines", specials="hidden", top_p=50, layer=2, head=3, token=2)
    names = [part["name"] for part in data(shown)["sides"][0]["views"][0]["parts"]]
    assert "lines" in names
    assert "heatmap" not in names


@pytest.mark.parametrize(
    ("view", "settings", "says"),
    [
        ("attention/haed", {}, "perhaps attention/head"),
        ("attention/head", {"layr": 1}, "'layr'"),
        ("attention/head", {"layer": 99}, "from 0 to 6"),
        ("attention/head", {"token": 99}, "The token"),
        ("attention/head", {"look": "Pie"}, "Heatmap, Lines"),
        ("attention/head", {"theme": "pink"}, "light"),
    ],
)
def test_what_does_not_exist_is_told_in_a_sentence(trace, refusal, view, settings, says):
    assert says in refusal(InputError, lambda: trace.show(view, **settings))


def test_a_shown_view_is_saved_as_a_page(trace, tmp_path):
    path = trace.show("attention/head", theme="dark").save(tmp_path / "head.html")
    assert 'data-theme="dark"' in path.read_text("utf-8")


def run_notebook(name):
    """What its cells of code end in, run in this process."""
    cells, names, ends = json.loads((NOTEBOOKS / name).read_text("utf-8"))["cells"], {}, []
    assert len(cells) <= 20
    assert not any(cell.get("outputs") for cell in cells), "it is kept without its pictures"
    for code in ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]:
        *before, last = ast.parse(code).body
        exec(compile(ast.Module([*before, ast.parse("last = " + ast.unparse(last)).body[0]], []), "cell", "exec"), names)
        ends.append(names["last"])
    return ends


def test_the_notebook_runs_from_its_first_cell_to_its_last():
    shown = [getattr(end, "_repr_html_", str)() for end in run_notebook("explorer.ipynb")]
    assert sum("<iframe" in one for one in shown) == 5
    assert sum("<table" in one for one in shown) == 1


@pytest.mark.nightly  # the study of the guide, below, runs the same functions
def test_the_study_of_agreement_runs_in_twenty_cells(monkeypatch, bundled):
    monkeypatch.setenv("ITEMS", "8")
    ends = [*map(str, run_notebook("agreement.ipynb"))]
    found = explorer.experiment(bundled, explorer.suite_items("agreement")[:8])
    layer, head = found.summary.selected
    assert f"layer {layer + 1}, head {head + 1}, of 8 items" in ends
    assert any(end.startswith(f"{found.summary.held_out.effect:+.2f} (") for end in ends)
    assert any(VIEWS["experiments/new"].question in end for end in ends), "the view that it shows"


def test_the_study_of_the_guide_is_short_and_says_what_the_page_says(monkeypatch, bundled, tmp_path, capsys):
    page = (ROOT / "assets" / "guide" / "notebook.md").read_text("utf-8")
    (study,) = re.findall(r"<!-- a study -->\n```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in study.splitlines() if line.strip()]) < 30
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(explorer, "experiment", lambda model, items, **how: find_shipped(model, "agreement"))
    exec(study, {})
    seen = bundled.trace("a [MASK].").view("experiments/new", source="agreement")
    said = capsys.readouterr().out
    assert seen.tables["interval"]["mean"].map("{:+.2f}".format).tolist()[0] in said
    assert "<svg" in (tmp_path / "agreement.svg").read_text("utf-8")


def test_what_users_of_bertviz_are_told_to_write_works(trace, bundled):
    page = (NOTEBOOKS / "bertviz.md").read_text("utf-8")
    calls = re.findall(r"`((?:trace\.show|explorer\.compare)\([^`]*\))", page)
    assert len(calls) == 5
    for call in calls:
        shown = eval(call, {"trace": trace, "explorer": explorer, "other": bundled.trace("She slept.")})
        assert isinstance(shown, notebook.Shown)
        assert "<iframe" in shown._repr_html_()


def test_several_views_share_what_is_chosen(trace):
    (side,) = data(trace.show("attention/heads", "attention/head", layer=2, head=5, look="Lines"))["sides"]
    assert [view["name"] for view in side["views"]] == ["attention/heads", "attention/head"]
    assert next(part["value"] for part in side["views"][1]["parts"] if part["name"] == "title").startswith("**Layer 2, head 5**")
    assert "lines" in [part["name"] for part in side["views"][1]["parts"]]
