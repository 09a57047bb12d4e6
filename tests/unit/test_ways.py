"""Every way out of every place, in every state, gives a file or says why there is none."""

import hashlib
import json
import re
from urllib.parse import parse_qsl

import pytest
import torch
import transformers

import explorer
from explorer.bert.provenance import describe
from explorer.core.errors import ExplorerError
from explorer.export import links, papers, ways
from explorer.export.place import slug
from explorer.page.examples import FIRST_A, FIRST_B
from explorer.tabs import TABS, VIEWS
from explorer.ui.subject import Subject
from tests.at_night import at_night
from tests.pages import Reader

pytestmark = pytest.mark.usefixtures("few_sentences")

STATES = {
    "a pair with a blank": (FIRST_A, FIRST_B),
    "one word": ("Hello", ""),
    "a blank alone": ("[MASK]", ""),
    "random weights": ("the dog.", ""),
}


@pytest.mark.parametrize("state", at_night(STATES, but=["a blank alone"]))
def test_every_way_out_gives_a_file_or_says_why_there_is_none(bundled, tiny_folder, state):
    a, b = STATES[state]
    model = explorer.load(tiny_folder).name if state == "random weights" else bundled.name
    first = Subject(model, a, b)
    for tab in TABS:
        for choice in tab.choices:
            place = links.read({"v": "1", "tab": tab.id, "view": slug(choice)}, first).opened()
            given = {way.key: made(way, place) for way in ways.WAYS}
            assert given["about.json"], (tab.id, choice)
            assert state != "a pair with a blank" or given["html"], (tab.id, choice)


def made(way, place):
    """Its file; None where it is refused with a sentence."""
    try:
        return way.make(place)
    except ExplorerError as error:
        sentence = str(error)
    assert sentence.endswith("."), way.key


def test_only_the_training_of_texts_has_python(bundled):
    def keys(tab, **choice):
        place = links.read({"v": "1", "tab": tab, **choice}, Subject(bundled.name, FIRST_A, FIRST_B))
        return [way.key for way in ways.WAYS if made(way, place.opened())]

    assert keys("attention") == [way.key for way in ways.WAYS]
    assert "py" in keys("fine-tune")
    assert keys("fine-tune", **{"set.kind": "words"}) == ["html", "csv", "json", "about.json"]


def test_about_these_files_reopens_the_place_and_says_whom_to_cite(bundled):
    first = Subject(bundled.name, FIRST_A, FIRST_B)
    place = links.read({"v": "1", "tab": "attention", "view": "through-all-layers", "set.up_to": "3"}, first).opened()
    about = json.loads(ways.ABOUT.make(place))
    assert links.read(dict(parse_qsl(about["link"], keep_blank_values=True)), Subject(bundled.name, "x", "")) == place
    assert about["texts"] == [FIRST_A, FIRST_B]
    assert about["views"]["attention/rollout"]["settings"] == {"up_to": 3}
    assert any("Abnar" in one for one in about["cite"])
    assert any("BERT: Pre-training of Deep" in one for one in about["cite"])
    made = about["provenance"]
    assert f"Version {made['explorer']}, 20" in about["cite"][0]
    weights = (bundled.checkpoint.folder / "model.safetensors").read_bytes()
    assert made["weights"] == hashlib.sha256(weights).hexdigest()
    assert (made["torch"], made["transformers"]) == (torch.__version__, transformers.__version__)
    assert made["dtype"] == str(next(bundled.module.parameters()).dtype).removeprefix("torch.")
    files = {way.key: way.make(place).decode() for way in ways.WAYS}
    assert json.loads(files["json"])["provenance"] == made
    assert Reader(files["html"]).data["sides"][0]["made"] == describe(made)
    assert describe(made) in files["py"]


def test_every_paper_that_a_view_names_has_its_reference():
    named = set()
    for view in VIEWS.values():
        texts = " ".join(str(part.options.get("markdown", "")) for part in view.parts.values())
        named |= set(re.findall(r"[A-Z][a-z]+(?: et al\.| & [A-Z][a-z]+) (?:19|20)\d\d", f"{view.__doc__} {texts}"))
    assert named, "views name papers"
    assert not [name for name in named if not papers.named_in([name])]
