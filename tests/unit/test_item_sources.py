"""Items from templates and from the corpus: what is made, how much at most, and what is said of a template that is wrong."""

import itertools
import re

import pytest

from explorer.core.errors import InputError
from explorer.core.limits import ITEMS
from explorer.experiments.compute.items import LONGEST, MOST_ITEMS, corpus_items, template_items
from explorer.text.corpora import built_in

AGREEMENT = """
The *{noun}/{other}* to the {place} [MASK] here. | {verb} | {foil}
No {place} [MASK] red. | is | are

noun / other / verb / foil = key/keys/is/are, keys/key/are/is
place = cup, box, old chair
"""


def test_slots_set_apart_by_a_slash_are_filled_together_and_others_in_every_combination():
    rows = [item.row for item in template_items(AGREEMENT)]
    first = [
        [f"The *{noun}/{other}* to the {place} [MASK] here.", "", verb, foil]
        for (noun, other, verb, foil), place in itertools.product(
            [("key", "keys", "is", "are"), ("keys", "key", "are", "is")], ["cup", "box", "old chair"]
        )
    ]
    assert rows == [*first, *([f"No {place} [MASK] red.", "", "is", "are"] for place in ("cup", "box", "old chair"))]


LINE = "The {b} [MASK] old. | is | are\n"
WRONG = {
    "": "The template is missing",
    " \n ": "The template is missing",
    "b = one, two": "The template is missing",
    "The [A] and {b} [MASK] old. | is | are\nb = one, two": "[A]",
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
    assert WRONG[template] in refusal(InputError, lambda: template_items(template))


def test_a_template_makes_no_more_items_than_are_asked_at_most(monkeypatch, refusal):
    monkeypatch.setattr(ITEMS, "most", 20)
    assert "items" in refusal(InputError, lambda: template_items(f"{LINE}b = {','.join('abcdefghijklmnopqrstu')}"))
    slots = "".join(f"{name} = {','.join(map(str, range(200)))}\n" for name in "bcdefgh")
    every = " ".join(f"{{{name}}}" for name in "bcdefgh")
    assert "items" in refusal(InputError, lambda: template_items(f"{every} [MASK] | is | are\n{slots}")), "and none is made"


def test_the_corpus_gives_sentences_with_one_word_of_a_pair(refusal):
    items, texts = corpus_items("is/are, was/were"), {one.text: one for one in built_in().sentences}
    assert 100 < len(items) <= MOST_ITEMS
    for item in items:
        assert {item.word, item.foil} in ({"is", "are"}, {"was", "were"})
        forms = (item.text_a.replace("[MASK]", form) for form in (item.word, item.word.title(), item.word.upper()))
        sentence = next(one for one in forms if one in texts)
        assert len(texts[sentence].words) <= LONGEST
    marked = [item for item in items if item.marks]
    assert len(items) / 2 < len(marked) < len(items)
    assert all(len(item.marks) == 1 and re.search(r"\*[^*/]+\*", item.row[0]) for item in marked)
    assert ["The *bark* of the tree [MASK] rough.", "", "is", "are"] in [item.row for item in items]
    for wrong, told in {
        "": "pairs",
        "is": "not a pair",
        "is/is": "not a pair",
        "is/are/was": "not a pair",
        "qwxz/zxwq": "more common",
    }.items():
        assert told in refusal(InputError, lambda wrong=wrong: corpus_items(wrong))
