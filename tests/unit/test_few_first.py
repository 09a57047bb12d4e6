"""Few choices first: at most three of a tab are in sight, and each of the rest says what it answers."""

from collections import Counter

import pytest

from explorer.tabs import TABS
from explorer.ui.settings import Memory
from explorer.ui.tabs import views_in

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


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_a_setting_that_several_choices_read_is_declared_as_shared(tab):
    """Otherwise it would be a part of one of them, and out of sight in the others."""
    above = {name for view in tab.above for name in view.names}
    controls = [
        {name for view in views_in(rows) for name, setting in view.settings.items() if not isinstance(setting, Memory)}
        for rows in tab.choices.values()
    ]
    read = Counter(name for of_choice in controls for name in of_choice)
    assert {name for name, count in read.items() if count > 1} - above == {name for line in tab.shared for name in line}
