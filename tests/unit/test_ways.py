"""Every way out that is offered works, of every place and in every state; no other is offered."""

import pytest

import explorer
from explorer.export import links, ways
from explorer.export.place import slug
from explorer.page.examples import FIRST_A, FIRST_B
from explorer.tabs import TABS
from explorer.ui.subject import Subject

pytestmark = pytest.mark.usefixtures("few_sentences")

STATES = {
    "a pair with a blank": (FIRST_A, FIRST_B),
    "one word": ("Hello", ""),
    "a blank alone": ("[MASK]", ""),
    "random weights": ("the dog.", ""),
}


@pytest.mark.parametrize("state", STATES)
def test_every_way_out_that_is_offered_works(bundled, tiny_folder, state):
    a, b = STATES[state]
    model = explorer.load(tiny_folder).name if state == "random weights" else bundled.name
    first = Subject(model, a, b)
    for tab in TABS:
        for choice in tab.choices:
            place = links.read({"v": "1", "tab": tab.id, "view": slug(choice)}, first).opened()
            for way in ways.offered(place):
                if way.key != "zip":  # which holds all others that can be made
                    assert way.make(place), (tab.id, choice, way.key)


def test_what_has_no_python_offers_none(bundled):
    def keys(tab):
        place = links.read({"v": "1", "tab": tab}, Subject(bundled.name, FIRST_A, FIRST_B))
        return [way.key for way in ways.offered(place.opened())]

    assert keys("attention") == [way.key for way in ways.WAYS]
    assert keys("fine-tune") == ["html", "csv", "json", "zip"]
