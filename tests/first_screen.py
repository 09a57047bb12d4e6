"""The first screen of every choice of every tab: controls, words and height at 1280 x 720, as a table.

python -m tests.first_screen http://127.0.0.1:7860

A control is anything to set or press: a slider with its number is one, so is each option of a radio, and a table to type in.
Not counted: navigation (sections, tabs, choices and the menu for them), what is drawn from data (tokens, heads, boxes,
cells), and Stop and Cancel while work is under way.
"""

import argparse
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import sync_playwright

from explorer.export.place import slug
from explorer.tabs import TABS

MOST = 8  # most controls besides the bar and the tabs
WIDTH, HEIGHT = 1280, 720
THERE = "() => !document.querySelector('#first') && !['arriving', 'busy'].some((one) => document.body.dataset[one])"
SEEN = """() => {
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.checkVisibility());
  const DATA = ".bx-tokens, .bx-heads, .bx-flow-sheet, .bx-flow-output, .bx-words, .bx-strips, .bx-board, .bx-lines," +
    ".bx-text-map, .bx-passage, .bx-ranking, .bx-bars, .bx-architecture, .bx-head-sheet, .bx-chart, .table-wrap";
  const AROUND = ".question, nav, #fine-tune-task, [id$=-stop], [id$=-cancel]";
  const SHEET = ".bx-cards"; // all cards together are one thing to type into
  const NAMED = "button, input, select, textarea, summary, a[href], [role=button], [role=combobox], .bx-chart, .table-wrap";
  const found = [...panel.querySelectorAll(NAMED)].filter((one) => {
    const box = one.getBoundingClientRect();
    return isSeen(one) && box.width > 1 && box.height > 1;
  });
  const controls = new Set();
  for (const one of found) {
    if (one.closest(AROUND) || one.closest(DATA)) continue;
    if (one.closest(".block")?.querySelector(".table-wrap[aria-readonly=true]")) continue;
    const block = one.closest(".block, .accordion"), sheet = one.closest(SHEET) && document.querySelector(".bx-cards");
    const slider = one.closest(".block")?.querySelector("input[type=range]");
    if (sheet) controls.add(sheet);
    else if (slider) controls.add(one.closest(".block"));
    else if (block?.querySelector("[role=combobox], input[type=file]")) controls.add(block);
    else controls.add(one);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  const range = document.createRange();
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.textContent.trim() || !isSeen(text.parentElement)) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    if (box.width > 1 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth)
      words += text.textContent.trim().split(/\\s+/).length;
  }
  const PICTURES = "canvas, .main-svg, .bx svg, .bx-tokens, .bx-strips, .bx-words, .bx-bars, table, .bx-ranking, .bx-heads";
  const tops = [...panel.querySelectorAll(PICTURES)].filter((one) => isSeen(one) && one.getBoundingClientRect().height > 40)
    .map((one) => Math.round(one.getBoundingClientRect().top));
  const name = (one) => (one.getAttribute("aria-label") || one.innerText || one.closest("label")?.innerText || one.tagName);
  return {
    controls: [...controls].map((one) => name(one).trim().slice(0, 30)),
    words,
    height: document.documentElement.scrollHeight,
    picture: tops.length ? Math.min(...tops) : -1,
  };
}"""


@dataclass(frozen=True)
class Screen:
    """One choice of a tab: the number of `controls` in all, the `words` of the first screen, and sizes in px."""

    tab: str
    choice: str
    controls: list[str]
    words: int
    height: int
    picture: int  # top of the first picture; -1 without one


def look(page: Any) -> dict[str, Any]:
    """Measure the open choice."""
    return page.evaluate(SEEN)


def screens(page: Any, address: str) -> list[Screen]:
    """Measure every choice of every tab that the model has."""
    found = []
    for tab in TABS:
        if tab.optional:
            continue
        for choice in tab.choices:
            page.goto(f"{address}/?tab={tab.id}&view={slug(choice)}")
            page.wait_for_selector("gradio-app #sections [role=tab]", timeout=60_000)
            page.wait_for_function(THERE, timeout=60_000)
            page.wait_for_timeout(1500)
            page.wait_for_function("() => !document.body.dataset.busy", timeout=60_000)
            found.append(Screen(tab.label, choice, **look(page)))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--names", action="store_true", help="name the controls")
    given = parser.parse_args()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=given.chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        found = screens(page, given.address.rstrip("/"))
        browser.close()
    print("| tab | choice | controls | words | height | picture at |\n|---|---|---|---|---|---|")
    for one in found:
        print(f"| {one.tab} | {one.choice} | {len(one.controls)} | {one.words} | {one.height} | {one.picture} |")
        if given.names:
            print("    ", one.controls)
    for name in ("words", "height", "picture"):
        print(f"median {name}: {statistics.median(getattr(one, name) for one in found)}")
    counts = [len(one.controls) for one in found]
    too_many = sum(one > MOST for one in counts)
    print(f"controls: median {statistics.median(counts)}, most {max(counts)}, more than {MOST} in {too_many}")


if __name__ == "__main__":
    sys.exit(main())
