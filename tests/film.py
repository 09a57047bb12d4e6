"""The moving picture of the README: the Overview of the app, as it is.

`python app.py --port 7861`, and then `python -m tests.film http://127.0.0.1:7861` writes it to assets/screenshots/ as
overview.webp, and its first frame, for readers who prefer reduced motion, as overview-still.webp.
"""

import argparse
import io
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, browser_path

OUT = Path(__file__).parents[1] / "assets" / "screenshots"
MOVING = "tab=overview&a=The+capital+of+Japan+is+%5BMASK%5D.&b=It+is+a+big+city."
SLOWER = 0.12  # of the speed at which lines glide, while photographs are taken
GLIDING = 9  # photographs of one glide
SHORT, STEP, HOLD = 70, 1900, 3000  # ms for which a photograph is shown: within a glide, at a step of the story, and for reading
# The caption below the picture, and the hand that clicks.
STAGE = """(bottom) => {
  const told = document.createElement("div"), hand = document.createElement("div");
  told.id = "film-told";
  told.style.cssText = `position:fixed;left:0;right:0;top:${bottom}px;height:46px;z-index:99;`
    + "background:#1e293b;color:white;"
    + "font:600 20px/46px 'DejaVu Sans',sans-serif;text-align:center";
  hand.id = "film-hand";
  hand.style.cssText = "position:fixed;left:-40px;top:0;z-index:98;width:26px;height:26px;margin:-13px;border-radius:50%;"
    + "background:rgb(220 38 38 / .35);border:2px solid rgb(185 28 28)";
  document.body.append(told, hand);
}"""
CLICKED = """([what, told]) => {
  const node = document.querySelector(what), hand = document.getElementById("film-hand").style;
  const box = node.getBoundingClientRect();
  let at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  if (node.getPointAtLength) {
    const half = node.getPointAtLength(0.6 * node.getTotalLength());
    at = new DOMPoint(half.x, half.y).matrixTransform(node.getScreenCTM());
  }
  [hand.left, hand.top] = [`${at.x}px`, `${at.y}px`];
  document.getElementById("film-told").textContent = told;
}"""


class Film:
    """Screenshots of a part of one page, each with its duration."""

    def __init__(self, page: Any, clip: dict[str, float]) -> None:
        self.page, self.clip, self.frames, self.times = page, clip, [], []
        self.animations = page.context.new_cdp_session(page)
        self.animations.send("Animation.enable")

    def take(self, milliseconds: int) -> None:
        """Take a screenshot."""
        self.frames.append(Image.open(io.BytesIO(self.page.screenshot(clip=self.clip))).convert("RGB"))
        self.times.append(milliseconds)

    def click(self, what: str, told: str, hold: int = HOLD) -> None:
        """Point at an element, click it, and record what glides."""
        self.page.evaluate(CLICKED, [what, told])
        self.take(900)
        self.animations.send("Animation.setPlaybackRate", {"playbackRate": SLOWER})
        self.page.locator(what).dispatch_event("click")
        for _ in range(GLIDING):
            self.page.wait_for_timeout(150)
            self.take(SHORT)
        self.animations.send("Animation.setPlaybackRate", {"playbackRate": 1})
        self.page.wait_for_timeout(2500)
        self.take(hold)

    def save(self, name: str) -> None:
        """Save all screenshots as one animated picture, and the first one on its own."""
        first, *others = self.frames
        options = {"quality": 50, "method": 6}  # under the 1.5 MB that the README may weigh
        first.save(OUT / f"{name}-still.webp", **options)
        first.save(OUT / f"{name}.webp", save_all=True, append_images=others, duration=self.times, loop=0, **options)
        print(f"{name}.webp: {(OUT / f'{name}.webp').stat().st_size / 1000:.0f} kB")


def overview(browser: Any, address: str) -> None:
    """The Overview: what flows into the blank and into [CLS], the story, and the guess after a cut."""
    page = browser.new_page(viewport={"width": 960, "height": 900})
    page.goto(f"{address}/?__theme=light&v=1&{MOVING}")
    picture = page.locator("#overview-routes-picture")
    picture.locator(".bx-flow-box").first.wait_for()
    page.wait_for_timeout(6000)
    page.add_style_tag(content="#overview-finding { display: none }")  # its number of lines varies
    stays = page.locator("#bar").bounding_box()["height"] + page.locator("#sections").bounding_box()["height"]
    page.evaluate("(top) => scrollBy({ top, behavior: 'instant' })", picture.bounding_box()["y"] - stays - 8)
    top, shown = page.locator("#text-a").bounding_box()["y"] - 4, picture.bounding_box()
    bottom = shown["y"] + shown["height"] + 4
    page.evaluate(STAGE, bottom)
    film = Film(page, {"x": 0, "y": top, "width": 960, "height": bottom + 46 - top})
    last = picture.locator(".bx-flow-title").count() - 1
    box = f'#overview-routes-picture .bx-flow-box[data-state="{last}"]'
    page.evaluate(CLICKED, [f'{box}[data-row="6"]', "Where does “tokyo” come from? Follow the lines back."])
    film.take(HOLD)
    film.click(f'{box}[data-row="0"]', "Click any box to see where that one comes from: [CLS] gathers both sentences.")
    film.click(f'{box}[data-row="6"]', "Back to the blank.", STEP)
    page.locator("#overview-routes-picture .bx-flow-play").click(click_count=2)  # show its stops, and halt
    stops = (
        "It reads pieces.",
        "",
        "Each token attends to others …",
        "… is transformed …",
        "… again and again,",
        "until there is a guess.",
    )
    for number, told in enumerate(stops):
        if told:
            film.click(f'#overview-routes-picture [data-stop="{number}"]', told, STEP)
    film.click('#overview-routes-picture [data-stop="-1"]', "Was the line from “japan” needed?", STEP)
    film.click('#overview-routes-picture [data-route="[5,6,4]"]', "Click it …", STEP)
    film.click("#overview-routes-picture .bx-flow-card [data-act*=cut]", "… and cut it: “tokyo” falls.", 2 * HOLD)
    film.save("overview")
    page.close()


def main() -> None:
    """Take the picture of the app at the given address."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        overview(browser, given.address)
        browser.close()


if __name__ == "__main__":
    main()
