"""The pictures of the README, of the app as it is: the Overview as it moves, and a film strip of six tabs side by side.

`python app.py --port 7861`, and then `python -m tests.film http://127.0.0.1:7861` writes them to assets/screenshots/: the
Overview as overview.webp, its first picture for who wants nothing to move as overview-still.webp, and the strip as film.webp.
"""

import argparse
import base64
import io
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, browser_path
from tests.browser.steps import settled

OUT = Path(__file__).parents[1] / "assets" / "screenshots"
FRAMES = (  # the caption, the place, the page's width, and the parts to show, one below the other
    ("Type", "tab=tokens", 660, ("text-a", "tokens-pieces-cards")),
    ("See every head", "tab=attention", 470, ("attention-finding", "attention-heads-grid")),
    ("Ask one head why", "tab=inside-head", 700, ("inside-head-finding", "inside-head-dots-table")),
    ("Fill the blank", "tab=fill-mask", 470, ("fill-mask-finding", "fill-mask-guesses-guesses", "fill-mask-what-if-gestures")),
    ("Watch the guess come", "tab=fill-mask&view=lens", 470, ("fill-mask-finding", "fill-mask-lens-table")),
    ("Train", "tab=fine-tune", 470, ("fine-tune-tried", "fine-tune-try-it-verdict", "fine-tune-try-it-words")),
)
PAGE = """<style>
body { margin: 0; padding: 16px; width: 1488px; display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px;
  font: 600 23px "DejaVu Sans", sans-serif; color: #1e293b; background: #f1f5f9; }
div { height: 384px; padding: 14px 18px; overflow: hidden; background: white; border: 1px solid #cbd5e1; border-radius: 10px; }
b { display: inline-block; width: 1.5em; margin: 0 .4em 12px 0; line-height: 1.5em; text-align: center; color: white;
  background: #1d5fa8; border-radius: 50%; }
img { display: block; margin-bottom: 8px; }
</style>"""

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


def picture(part: Any) -> str:
    """A screenshot of a part of the app, in its own width."""
    share = part.bounding_box()["width"] / part.page.locator("#bar").bounding_box()["width"]
    return f'<img style="width:{share:.0%}" src="data:image/png;base64,{base64.b64encode(part.screenshot()).decode()}">'


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
        """Save all screenshots as one animated picture, and the first one by itself."""
        first, *others = self.frames
        options = {"quality": 70, "method": 6}
        first.save(OUT / f"{name}-still.webp", **options)
        first.save(OUT / f"{name}.webp", save_all=True, append_images=others, duration=self.times, loop=0, **options)
        report(OUT / f"{name}.webp")


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


def report(path: Path) -> None:
    """The size of a file."""
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def strip(browser: Any, address: str) -> None:
    """Six tabs, side by side."""
    film = PAGE
    for number, (told, query, width, parts) in enumerate(FRAMES, 1):
        page = browser.new_page(viewport={"width": width, "height": 800}, device_scale_factor=1.5)
        page.goto(f"{address}/?__theme=light&v=1&{query}")
        page.locator(f"#{parts[-1]}").wait_for()
        page.wait_for_timeout(8000)  # results that come after the first picture, such as those from a few sentences
        settled(page)
        film += f"<div><b>{number}</b>{told}" + "".join(picture(page.locator(f"#{one}")) for one in parts) + "</div>"
        page.close()
    page = browser.new_page(viewport={"width": 1520, "height": 300}, device_scale_factor=1)
    page.set_content(film)
    Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB").save(OUT / "film.webp", quality=82, method=6)
    report(OUT / "film.webp")


PICTURES = {"overview": overview, "strip": strip}


def main() -> None:
    """Take the pictures of the app at the given address."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--only", choices=PICTURES, help="one of them")
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        for name, made in PICTURES.items():
            if given.only in (None, name):
                made(browser, given.address)
        browser.close()


if __name__ == "__main__":
    main()
