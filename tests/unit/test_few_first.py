"""Few choices first: at most three of a tab are in sight, and each of the rest says what it answers."""

import pytest

from explorer.tabs import TABS

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
