"""Every way out that is offered works, of every place and in every state; no other is offered."""

import hashlib
import json
import re
from urllib.parse import parse_qsl

import pytest
import torch
import transformers

import explorer
from explorer.bert.provenance import told
from explorer.core.errors import ExplorerError
from explorer.export import links, papers, ways
from explorer.export.place import slug
from explorer.page.examples import FIRST_A, FIRST_B
from explorer.tabs import TABS, VIEWS
from explorer.ui.long_view import LongView
from explorer.ui.subject import Subject
from tests.at_night import at_night

pytestmark = pytest.mark.usefixtures("few_sentences")

STATES = {
    "a pair with a blank": (FIRST_A, FIRST_B),
    "one word": ("Hello", ""),
    "a blank alone": ("[MASK]", ""),
    "random weights": ("the dog.", ""),
}


@pytest.mark.parametrize("state", at_night(STATES, but=["a blank alone"]))
def test_every_way_out_that_is_offered_works(bundled, tiny_folder, state):
    a, b = STATES[state]
    model = explorer.load(tiny_folder).name if state == "random weights" else bundled.name
    first = Subject(model, a, b)
    for tab in TABS:
        for choice in tab.choices:
            place = links.read({"v": "1", "tab": tab.id, "view": slug(choice)}, first).opened()
            for way in ways.offered(place):
                assert made(way, place) or long_work(place), (tab.id, choice, way.key)


def long_work(place):
    """Whether only the work itself, which the offer does not begin, can find that there is nothing to give."""
    return any(isinstance(view, LongView) for view in place.views)


def made(way, place):
    """Its file; None, and the reason, where it cannot be made."""
    try:
        return way.make(place)
    except ExplorerError as error:
        return print(error)


def test_what_has_no_python_offers_none(bundled):
    def keys(tab):
        place = links.read({"v": "1", "tab": tab}, Subject(bundled.name, FIRST_A, FIRST_B))
        return [way.key for way in ways.offered(place.opened())]

    assert keys("attention") == [way.key for way in ways.WAYS]
    assert keys("fine-tune") == ["html", "csv", "json", "about.json"]


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
    assert told(made) in files["html"]
    assert told(made) in files["py"]


def test_every_paper_that_a_view_names_has_its_reference():
    named = set()
    for view in VIEWS.values():
        texts = " ".join(str(part.options.get("markdown", "")) for part in view.parts.values())
        named |= set(re.findall(r"[A-Z][a-z]+(?: et al\.| & [A-Z][a-z]+) (?:19|20)\d\d", f"{view.__doc__} {texts}"))
    assert named, "views name papers"
    assert not [name for name in named if not papers.named_in([name])]
