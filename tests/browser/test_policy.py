"""What the browser is told to run (every other test of this folder runs under it, too), and what the login page says."""

from explorer.server import bounds
from tests.browser.expecting import expect
from tests.browser.steps import chips, type_into

HOSTILE = "<img src=x onerror=alert(1)>"
INJECTED = (
    """box.innerHTML = '<img src="data:," onerror="window.ran = true">'""",
    """box.innerHTML = '<a href="javascript:window.ran = true">a</a>'; box.firstChild.click()""",
    """box.appendChild(document.createElement('script')).textContent = 'window.ran = true'""",
    """box.appendChild(document.createElement('script')).src = 'http://127.0.0.1:9/a.js'""",
    """box.innerHTML = '<iframe srcdoc="<script>top.ran = true</script>"></iframe>'""",
)


def test_nothing_runs_that_is_typed_or_gets_into_the_page(open_app, bundled):
    page = open_app()
    type_into(page, "text-a", HOSTILE)
    expect(chips(page)).to_have_count(len(bundled.encode(HOSTILE).ids))
    assert not page.problems
    for injection in INJECTED:
        with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
            page.evaluate(f"() => {{ const box = document.body.appendChild(document.createElement('div')); {injection}; }}")
    assert page.evaluate("window.ran") is None
    assert all("Content Security Policy" in problem for problem in page.problems)
    page.problems.clear()


def test_who_guesses_too_often_reads_why_nothing_happens(locked, new_page, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_LOGINS", 1)
    page = new_page(extra_http_headers={"X-Forwarded-For": "203.0.113.200"})
    page.goto(locked)
    expect(page.get_by_label("username")).to_be_visible()
    for told in ("Incorrect Credentials", bounds.TOO_MANY_LOGINS):
        page.get_by_label("username").fill("teacher")
        page.get_by_label("password").fill("wrong")
        page.get_by_role("button", name="Login").click()
        expect(page.get_by_text(told)).to_be_visible()
    page.problems.clear()  # the browser tells of each answer that refuses
