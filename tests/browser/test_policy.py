"""What the browser is told to run, and what it therefore does not. Every other test of this folder runs under it, too."""

from playwright.sync_api import expect

from explorer.page.examples import FIRST_B
from explorer.views import TABS
from tests.browser.steps import chips, open_tab, type_into

HOSTILE = "<img src=x onerror=alert(1)>"
INJECTED = (
    """box.innerHTML = '<img src="data:," onerror="window.ran = true">'""",
    """box.innerHTML = '<a href="javascript:window.ran = true">a</a>'; box.firstChild.click()""",
    """box.appendChild(document.createElement('script')).textContent = 'window.ran = true'""",
    """box.appendChild(document.createElement('script')).src = 'http://127.0.0.1:9/a.js'""",
    """box.innerHTML = '<iframe srcdoc="<script>top.ran = true</script>"></iframe>'""",
)


def test_every_tab_opens_under_the_policy(open_app):
    page = open_app()
    for tab in [tab for tab in TABS if not tab.optional]:  # test_models.py opens those, under the same policy
        open_tab(page, tab.label)
        expect(page.get_by_role("heading", name=tab.question, exact=True)).to_be_visible()
        page.wait_for_function("() => !document.body.dataset.busy")
    assert not page.problems


def test_nothing_runs_that_is_typed_or_gets_into_the_page(open_app, bundled):
    page = open_app()
    type_into(page, "text-a", HOSTILE)
    expect(chips(page)).to_have_count(len(bundled.encode(HOSTILE, FIRST_B).ids))
    assert not page.problems
    for injection in INJECTED:
        with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
            page.evaluate(f"() => {{ const box = document.body.appendChild(document.createElement('div')); {injection}; }}")
    assert page.evaluate("window.ran") is None
    assert all("Content Security Policy" in problem for problem in page.problems)
    page.problems.clear()
