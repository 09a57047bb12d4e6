"""`python -m tests.benchmarks.maps`: bytes of a map, the first UMAP of a process, and frames a second of 10,000 points.

Frames are counted in a browser without a graphics card, beside those of the same page at rest.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import explorer
from explorer.export import page_file
from explorer.projection.map import Map
from explorer.projection.points import SENTENCES, VOCABULARY
from explorer.ui.subject import Subject
from tests.benchmarks.browser import chromium

SIZES = (12, 60, 300, 2_000)
FITS = (200, 1_000, 10_000)
FIRST_FIT = """
import sys, time
import numpy as np
from explorer.analysis.projection import MapSettings, project
random = np.random.default_rng(0)
count = int(sys.argv[1])
middles = 2 * random.normal(size=(20, 384))
vectors = (middles[random.integers(20, size=count)] + random.normal(size=(count, 384))).astype(np.float32)
wall, processor = time.perf_counter(), time.process_time()
project(vectors, MapSettings("umap"))
print(f"first UMAP of {count:,}: {time.perf_counter() - wall:.1f} s, {time.process_time() - processor:.1f} s of processor time")
"""
AT_REST = """() => new Promise((done) => {
    const begun = performance.now();
    let frames = 0;
    const next = () => (frames++, performance.now() - begun < 3000 ? requestAnimationFrame(next) : done(frames / 3));
    requestAnimationFrame(next);
})"""
TURN = """map.dispatchEvent(new WheelEvent("wheel",
    { deltaY: frames % 60 < 30 ? -40 : 40, clientX: 400, clientY: 400, ctrlKey: true, cancelable: true }))"""
ZOOMING = AT_REST.replace("frames++", f"{TURN}, frames++").replace(
    "let frames", 'const map = document.querySelector(".bx-map-drawing");\n    let frames'
)


def show_bytes(subject: Subject) -> None:
    """The size of the value that draws maps of so many points."""
    for count in SIZES:
        view = Map(source=SENTENCES, sentences="\n".join(f"Sentence {number} of a map." for number in range(count)))
        print(f"map of {count:,}: {len(json.dumps(view.compute(subject)['map'])) / 1e3:,.0f} kB")
    print(f"map of 10,000: {len(json.dumps(Map(source=VOCABULARY).compute(subject)['map'])) / 1e3:,.0f} kB")


def show_frames(subject: Subject) -> None:
    """Frames a second of 10,000 points while they are zoomed, and of the page at rest."""
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.html"
        path.write_text(page_file.html([Map(source=VOCABULARY)], subject), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-drawn]")
        page.wait_for_selector(".bx-map-cloud:not([hidden])")
        print(f"frames a second: {page.evaluate(ZOOMING):.0f} while zooming, {page.evaluate(AT_REST):.0f} at rest")


if __name__ == "__main__":
    given = Subject.of(explorer.load().trace("A map."))
    show_bytes(given)
    show_frames(given)
    for size in FITS:
        subprocess.run([sys.executable, "-c", FIRST_FIT, str(size)], check=True)
