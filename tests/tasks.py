"""Five things that people come for, each done on a fresh page: clicks, texts typed, and seconds until the answer is in sight.

python app.py &
python -m tests.tasks http://127.0.0.1:7860

An answer counts if it is on the first screen of a 1280 × 720 window, without scrolling.
"""

import argparse
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

WIDTH, HEIGHT = 1280, 720
PATIENCE = 60_000  # ms


class Hand:
    """A user's actions on a page, counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.texts = page, 0, 0

    def click(self, role: Any, name: str) -> None:
        """Click the element with this role and name."""
        self.page.get_by_role(role, name=name, exact=True).locator("visible=true").first.click()
        self.clicks += 1

    def write(self, where: str, text: str) -> None:
        """Type into a box, and leave it."""
        box = self.page.locator(where)
        box.fill(text)
        box.press("Tab")
        self.texts += 1


@dataclass(frozen=True)
class Task:
    """What a user wants to know, how they get there, and where the page shows it: a selector and a part of its text."""

    wish: str
    act: Callable[[Hand], None]
    where: str
    answer: str | re.Pattern[str]


def _own_sentence(hand: Hand) -> None:
    hand.write("#text-b textarea", "")
    hand.write("#text-a textarea", "She drank a glass of cold stone.")


def _he_and_she(hand: Hand) -> None:
    hand.write("#text-a textarea", "The nurse said that [MASK] was tired.")
    hand.click("tab", "Predict")
    hand.write("#fill-mask-words input", "he, she")


def _three_classes(hand: Hand) -> None:
    hand.click("tab", "Train")
    classes = {
        "colour": "The wall is painted green.\nHer coat is dark red.\nThe sea looked blue today.\nHe bought a yellow lamp.",
        "month": "School begins in September.\nIt often snows in January.\nWe travel every July.\nRoses bloom in June.",
        "tool": "He hit the nail with a hammer.\nShe cut the board with a saw.\nPass me the drill.\nA spanner opens the bolt.",
    }
    hand.click("button", "Empty cards")
    for number, (name, lines) in enumerate(classes.items()):
        hand.write(f".bx-card[data-card='{number}'] .bx-card-name", name)
        for line in lines.split("\n"):
            hand.write(f".bx-card[data-card='{number}'] .bx-card-new textarea", line)


TASKS = (
    Task("See why BERT guesses tokyo", lambda hand: None, "#overview-finding", "it takes most from “japan”"),
    Task("Find out which word a head needs", lambda hand: hand.click("button", "see why →"), "#attention-finding", "looks from"),
    Task("Type a sentence and see its surprising word", _own_sentence, "#says", "stone"),
    Task("Compare he and she", _he_and_she, "#fill-mask-comparison-ratio", re.compile("likely as s?he")),
    Task("Teach three classes", _three_classes, "#fine-tune-finding", "of 12 are right when left out"),
)


def in_sight(page: Page, where: str, answer: str | re.Pattern[str]) -> bool:
    """Wait for the answer. Returns whether it is on the first screen."""
    found = page.locator(where).filter(has_text=answer).locator("visible=true").first
    expect(found).to_be_visible(timeout=PATIENCE)
    box = found.bounding_box()
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= HEIGHT and page.evaluate("scrollY") == 0


def do(page: Page, task: Task) -> tuple[int, int, float, bool]:
    """Do a task on a page. Returns clicks, texts, seconds, and whether the answer is in sight."""
    expect(page.locator("#text-a textarea").locator("visible=true").first).to_be_visible(timeout=PATIENCE)
    begun = time.perf_counter()
    hand = Hand(page)
    task.act(hand)
    seen = in_sight(page, task.where, task.answer)
    return hand.clicks, hand.texts, time.perf_counter() - begun, seen


def main() -> None:
    """Print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    given = parser.parse_args()
    print("| task | clicks | texts typed | seconds | answer on the first screen |\n|---|---|---|---|---|")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=given.chromium, args=["--no-sandbox", "--disable-gpu"])
        for task in TASKS:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(given.address)
            clicks, texts, seconds, seen = do(page, task)
            print(f"| {task.wish} | {clicks} | {texts} | {seconds:.1f} | {'yes' if seen else 'no'} |")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
