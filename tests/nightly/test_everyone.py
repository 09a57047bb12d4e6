"""Every choice of every tab by axe, in both themes, at 200%; the suite looks at each tab as it opens."""

import pytest

from tests.browser.test_everyone import HALF, expect_tabs_for_everyone


@pytest.mark.own_page
@pytest.mark.usefixtures("few_sentences")
def test_every_choice_is_for_everyone(open_app):
    expect_tabs_for_everyone(open_app("?__theme=light", viewport=HALF))
