"""Items from templates: what is made, how much at most, and what is said of a template that is wrong."""

import itertools

import pytest

from explorer.core.errors import InputError
from explorer.core.limits import ITEMS
from explorer.experiments.compute.items import items_from_lines

AGREEMENT = """
The *{noun}/{other}* to the {place} [MASK] here. | {verb} | {foil}
No {place} [MASK] red. | is | are

noun / other / verb / foil = key/keys/is/are, keys/key/are/is
place = cup, box, old chair
"""


def test_slots_set_apart_by_a_slash_are_filled_together_and_others_in_every_combination():
    rows = [item.row for item in items_from_lines(AGREEMENT)]
    first = [
        [f"The *{noun}/{other}* to the {place} [MASK] here.", "", verb, foil]
        for (noun, other, verb, foil), place in itertools.product(
            [("key", "keys", "is", "are"), ("keys", "key", "are", "is")], ["cup", "box", "old chair"]
        )
    ]
    assert rows == [*first, *([f"No {place} [MASK] red.", "", "is", "are"] for place in ("cup", "box", "old chair"))]


LINE = "The {b} [MASK] old. | is | are\n"
WRONG = {
    "": "Type at least two items",
    " \n ": "Type at least two items",
    "b = one, two": "Type at least two items",
    "The {b} and {c [MASK] old. | is | are\nb = one, two": "Line 1 has a brace",
    "The {} [MASK] old. | is | are": "Line 1 has a brace",
    "The {two words} [MASK] old. | is | are": "Line 1 has a brace",
    LINE: "Nothing fills the slot {b}",
    f"{LINE}b =": "Line 2 gives {b} no values",
    f"{LINE}b = , ,": "Line 2 gives {b} no values",
    f"{LINE}b = one, two\nb = three": "The slot {b} is filled twice",
    f"{LINE}b/b = one/two": "The slot {b} is filled twice",
    f"{LINE}b = one, two\nc = three": "No sentence has the slot {c}",
    f"{LINE}b/c = one/two, three": "Line 2 has 2 slots and 1 parts",
    "The {b} [MASK] old. | is\nb = one, two": "Line 1 is not an item",
    f"{LINE}b = one": "at least two items",
    f"{'{b}' * 5_000} [MASK] | is | are\nb = {'c' * 5_000}, d": "has 25,0",
    f"{'{b}' * 5_000} {{c}} [MASK] | is | are\nb = {'{c}' * 5_000}, d\nc = {'e' * 5_000}": "has 75,0",
    LINE + "b = c\n" * 51: "more slots than 50",
    f"{'a' * 25_000} [MASK] | is | are": "A part of line 1 has 25,0",
}


@pytest.mark.parametrize("template", WRONG)
def test_what_is_wrong_with_a_template_is_said(template, refusal):
    assert WRONG[template] in refusal(InputError, lambda: items_from_lines(template))


def test_a_template_makes_no_more_items_than_are_asked_at_most(monkeypatch, refusal):
    monkeypatch.setattr(ITEMS, "most", 20)
    assert "items" in refusal(InputError, lambda: items_from_lines(f"{LINE}b = {','.join('abcdefghijklmnopqrstu')}"))
    slots = "".join(f"{name} = {','.join(map(str, range(200)))}\n" for name in "bcdefgh")
    every = " ".join(f"{{{name}}}" for name in "bcdefgh")
    assert "items" in refusal(InputError, lambda: items_from_lines(f"{every} [MASK] | is | are\n{slots}")), "and none is made"
