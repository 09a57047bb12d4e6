"""What a person does on the page, by name."""

import re
from contextlib import contextmanager
from urllib.parse import parse_qsl

from explorer.tabs import TABS
from tests.browser.expecting import PATIENCE, expect


def chips(page):
    """The tokens of the strip."""
    return page.locator("#strip .bx-token")


def at(tab: str, query: str = "") -> str:
    """A query with the tab that is called so."""
    return f"{query or '?'}&tab={next(one.id for one in TABS if one.label == tab)}"


def visit(page, query: str) -> None:
    """Let an open page go where a link leads, as when the browser goes back, with nothing unfolded, pointed at or told."""
    from explorer.export import links
    from explorer.page.examples import first_subject

    address = links.query(links.read(dict(parse_qsl(query.lstrip("?"), keep_blank_values=True)), first_subject()))
    page.mouse.move(0, 0)
    page.evaluate(
        """(query) => {
            document.activeElement?.blur();
            document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
            document.querySelectorAll(".label-wrap.open, .toast-close").forEach((button) => button.click());
            scrollTo(0, 0);
            BertExplorer.link.visit(query);
        }""",
        address,
    )
    # To where the page is already, too, an answer comes: it would put back what is typed before it.
    page.wait_for_function(
        "(query) => BertExplorer.link.linkState.query === query && BertExplorer.link.linkState.visiting === null",
        arg=address,
        timeout=3 * PATIENCE,  # it computes a whole view, and waits for what a test before it has left to compute
    )
    settled(page)


def type_into(page, box: str, text: str) -> None:
    """Replace the text of the box with the element id `box`; the last three characters come key by key."""
    field = page.locator(f"#{box} textarea, #{box} input").first
    field.fill(text[:-3])
    field.press("End")
    field.press_sequentially(text[-3:])


def choose(page, menu: str, option: str) -> None:
    """Choose an option of the menu with the element id `menu`."""
    page.locator(f"#{menu} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def open_choice(page, tab: str, label: str) -> None:
    """Open a choice of the tab with the id `tab`: beside its question, or in the menu behind it."""
    choices = page.locator(f"#{tab}-view")
    expect(choices).to_be_visible()
    if (beside := choices.get_by_label(label, exact=True)).is_visible():
        return beside.check()
    page.locator(f"#{tab}-rest button").click()
    page.get_by_role("menuitemradio", name=label).click()
    expect(beside).to_be_checked()


def close_messages(page) -> None:
    """Close the messages in the corner, which may be about to go by themselves."""
    page.evaluate("() => document.querySelectorAll('.toast-close').forEach((button) => button.click())")


def unfold(page, *titles: str) -> None:
    """Unfold what stands under some titles, and before that the More around them, if there is one."""
    for title in titles:
        found = page.locator("button.label-wrap", has_text=re.compile(rf"^\s*{re.escape(title)}")).locator("visible=true")
        around = page.locator("button.label-wrap:not(.open)", has_text=re.compile(r"^\s*More")).locator("visible=true")
        expect(found.or_(around).first).to_be_visible()
        if not found.count():
            around.first.click()
        found.first.click()


def stepper(page, name: str):
    """The number in the bar of what is chosen: "layer", "head" or "hidden_state"."""
    return page.locator(f"#steppers input[data-name={name}]")


@contextmanager
def held(page, calls="*/queue/join*"):
    """The server gets none of some calls meanwhile. (With page.route, the browser would compile every script again.)"""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Fetch.enable", {"patterns": [{"urlPattern": calls}]})
    yield
    devtools.send("Fetch.disable")  # which lets go what is held
    devtools.detach()


CALM = "* { transition: none !important; animation: none !important; }"
"""A style for measuring colours: nothing is half faded."""


def settled(page) -> None:
    """Wait until what is shown is what was asked for last."""
    page.wait_for_timeout(100)
    page.wait_for_function("() => !['busy', 'stale', 'more'].some((one) => document.body.dataset[one])")
