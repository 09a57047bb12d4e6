"""A view as a zip: every file of it, what was set, the proof, and whom to cite."""

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import torch
import transformers

from explorer.bert.provenance import provenance_of, told
from explorer.export import links, papers, ways
from explorer.export.place import Place, seen_in
from explorer.tabs import TABS, VIEWS
from explorer.ui.subject import Subject

pytestmark = pytest.mark.usefixtures("few_sentences")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def subject(bundled):
    return Subject.of(bundled.trace("The man went to the [MASK].", "He bought milk."))


def place_of(subject, tab, choice):
    return Place(subject, tab.id, choice, tuple(view() for view in seen_in(tab, choice))).opened()


def made(way, place):
    (make,) = [one.make for one in ways.WAYS if one.key == way]
    return make(place)


@pytest.mark.parametrize(("tab", "choice"), [(tab, choice) for tab in TABS for choice in tab.choices if tab.id != "fine-tune"])
def test_every_place_is_a_zip(subject, tab, choice):
    if tab.needs and not getattr(subject.model.capabilities, tab.needs):
        return
    place = place_of(subject, tab, choice)
    with zipfile.ZipFile(io.BytesIO(made("zip", place))) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {f"{place.name}.html", "settings.json", "check.txt", "CITATION.txt"} <= files.keys()
    settings = json.loads(files["settings.json"])
    assert settings["provenance"] == provenance_of(subject.model)
    assert list(settings["views"]) == [view.name for view in place.views]
    back = links.read(dict(parse_qsl(settings["link"], keep_blank_values=True)), Subject(subject.model_name, "x", ""))
    assert (back.subject.text_a, back.tab, back.choice) == (subject.text_a, tab.id, choice)
    assert back.views == place.views
    assert files["check.txt"].strip()
    assert "✗" not in files["check.txt"]
    assert "BERT: Pre-training of Deep" in files["CITATION.txt"]


def test_a_zip_names_the_technique_and_is_the_same_each_time(subject):
    tab = next(tab for tab in TABS if tab.id == "attention")
    place = place_of(subject, tab, "Through all layers")
    first = made("zip", place)
    assert first == made("zip", place)
    assert "Abnar" in zipfile.ZipFile(io.BytesIO(first)).read("CITATION.txt").decode()


def test_every_file_says_how_it_was_made(subject):
    made_by = provenance_of(subject.model)
    assert made_by["weights"] == hashlib.sha256((subject.model.checkpoint.folder / "model.safetensors").read_bytes()).hexdigest()
    assert (made_by["torch"], made_by["transformers"]) == (torch.__version__, transformers.__version__)
    assert made_by["dtype"] == str(next(subject.model.module.parameters()).dtype).removeprefix("torch.")
    tab = next(tab for tab in TABS if tab.id == "fill-mask")
    place = place_of(subject, tab, "Attribution")
    with zipfile.ZipFile(io.BytesIO(made("zip", place))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert json.loads(files[f"{place.name}.json"])["provenance"] == made_by
    for kind in ("html", "py"):
        assert told(made_by) in files[f"{place.name}.{kind}"]
    assert f"Version {made_by['explorer']}, 20" in files["CITATION.txt"]
    assert made_by["weights"] in files["CITATION.txt"]
    scores = files[f"{place.name}.csv"].splitlines()
    assert scores[0].split(",") == ["position", "token", "score", "occlusion"]
    assert len(scores) == 1 + subject.trace.kept


def test_every_paper_that_a_view_names_has_its_reference():
    named = set()
    for view in VIEWS.values():
        told = " ".join(str(part.options.get("markdown", "")) for part in view.parts.values())
        named |= set(re.findall(r"[A-Z][a-z]+(?: et al\.| & [A-Z][a-z]+) (?:19|20)\d\d", f"{view.__doc__} {told}"))
    assert named, "views name papers"
    assert not [name for name in named if not papers.named_in([name])]
