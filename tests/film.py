"""The film strip of the README: six pictures of the app as it is, side by side.

`python app.py --port 7861`, and then `python -m tests.film http://127.0.0.1:7861` writes assets/screenshots/film.webp.
"""

import argparse
import base64
import io
from pathlib import Path
from typing import Any

from PIL import Image

OUT = Path(__file__).parents[1] / "assets" / "screenshots" / "film.webp"
FRAMES = (  # what is told, where it is, how wide the page is, and the parts that are shown, one below the other
    ("Type", "tab=tokens", 660, ("text-a", "tokens-pieces-cards")),
    ("See every head", "tab=attention", 470, ("attention-finding", "attention-heads-grid")),
    ("Ask one head why", "tab=inside-head", 700, ("inside-head-finding", "inside-head-dots-table")),
    ("Fill the blank", "tab=fill-mask", 470, ("fill-mask-finding", "fill-mask-guesses-guesses", "fill-mask-what-if-gestures")),
    ("Watch the guess come", "tab=fill-mask&view=lens", 470, ("fill-mask-finding", "fill-mask-lens-table")),
    ("Teach it", "tab=fine-tune", 470, ("fine-tune-tried", "fine-tune-try-it-verdict", "fine-tune-try-it-words")),
)
PAGE = """<style>
body { margin: 0; padding: 16px; width: 1488px; display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px;
  font: 600 23px "DejaVu Sans", sans-serif; color: #1e293b; background: #f1f5f9; }
div { height: 384px; padding: 14px 18px; overflow: hidden; background: white; border: 1px solid #cbd5e1; border-radius: 10px; }
b { display: inline-block; width: 1.5em; margin: 0 .4em 12px 0; line-height: 1.5em; text-align: center; color: white;
  background: #1d5fa8; border-radius: 50%; }
img { display: block; margin-bottom: 8px; }
</style>"""


def picture(part: Any) -> str:
    """A part of the app as a picture, as wide as it is there."""
    share = part.bounding_box()["width"] / part.page.locator("#bar").bounding_box()["width"]
    return f'<img style="width:{share:.0%}" src="data:image/png;base64,{base64.b64encode(part.screenshot()).decode()}">'


def main() -> None:
    """Photograph the app at the address that is given."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, browser_path
    from tests.browser.steps import settled

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    address = parser.parse_args().address
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        film = PAGE
        for number, (told, query, width, parts) in enumerate(FRAMES, 1):
            page = browser.new_page(viewport={"width": width, "height": 800}, device_scale_factor=1.5)
            page.goto(f"{address}/?__theme=light&v=1&{query}")
            page.locator(f"#{parts[-1]}").wait_for()
            page.wait_for_timeout(8000)  # what comes after the first picture, such as what a few sentences teach
            settled(page)
            film += f"<div><b>{number}</b>{told}" + "".join(picture(page.locator(f"#{one}")) for one in parts) + "</div>"
            page.close()
        page = browser.new_page(viewport={"width": 1520, "height": 300}, device_scale_factor=1)
        page.set_content(film)
        Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB").save(OUT, quality=82, method=6)
        browser.close()
    print(f"{OUT}: {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
