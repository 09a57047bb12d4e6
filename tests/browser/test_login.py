"""What the login page tells of a wrong password, and of too many."""

from explorer.server import gate
from tests.browser.expecting import expect

AT_ONCE = 10_000  # ms: half of what a page waits for parts that do not come


def test_who_guesses_too_often_reads_why_nothing_happens(locked, new_page, monkeypatch):
    monkeypatch.setattr(gate, "MOST_WRONG", 1)
    page = new_page(extra_http_headers={"X-Forwarded-For": "203.0.113.200"})
    page.goto(locked)
    expect(page.get_by_label("username")).to_be_visible(timeout=AT_ONCE)
    for told in ("Incorrect Credentials", gate.TOO_MANY_WRONG):
        page.get_by_label("username").fill("teacher")
        page.get_by_label("password").fill("wrong")
        page.get_by_role("button", name="Login").click()
        expect(page.get_by_text(told)).to_be_visible()
    page.problems.clear()  # the browser tells of each answer that refuses
