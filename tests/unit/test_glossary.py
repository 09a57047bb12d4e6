"""The glossary: every term is parsed, means one thing, and leads to a view that exists."""

import re
from urllib.parse import parse_qsl

import pytest

from explorer.export import links
from explorer.export.place import slug
from explorer.guide.pages import glossary, terms
from explorer.page.examples import first_subject


def test_every_heading_of_the_page_is_a_term(guide):
    assert [one.name for one in terms()] == re.findall("^### (.+)$", guide["glossary"], re.MULTILINE)
    assert len(terms()) >= 60


def test_a_word_stands_for_one_term():
    words = [word for one in terms() for word in one.words]
    assert len(set(words)) == len(words)
    assert all(re.fullmatch("[a-z -]+", word) for word in words), "the page joins them to a regular expression"


@pytest.mark.parametrize("term", terms(), ids=lambda one: one.name)
def test_a_term_has_one_sentence_and_leads_to_a_view(term):
    assert re.fullmatch(r"[A-Z].+\.", term.meaning)
    assert not re.search(r"[.!?] [A-Z]", term.meaning)
    assert len(term.meaning) < 250
    given = dict(parse_qsl(term.query, strict_parsing=True))
    assert set(given) <= {"v", "tab", "view"}, "a person's texts stay"
    place = links.read(given, first_subject())
    assert (place.told, place.tab, slug(place.choice)) == ((), given["tab"], given.get("view", slug(place.choice)))
    assert term.where.endswith(place.choice)


def test_meanings_are_sent_as_html():
    token = next(one for one in glossary()["terms"] if one["name"] == "Token")
    assert "<code>[CLS]</code>" in token["meaning"]
