"""Views as one interactive HTML file without a server: our JavaScript and the values, nothing loaded from elsewhere."""

import base64
import html as markup
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from explorer.bert import provenance
from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS
from explorer.export.contents import EMPTY, describe_view, input_strip, open_subject
from explorer.export.place import where
from explorer.ui.pictures.base import PLOTLY_JS
from explorer.ui.pictures.components import COMPONENTS
from explorer.ui.subject import Subject
from explorer.ui.view import View, finding_of

# Style sheets of every page; scripts are imported.
ALWAYS = ("common", "long_input", "paper", "picture", "plotly_window", "token_row")
POLICY = "default-src 'none'; script-src 'unsafe-inline'{more}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"
NEEDS_EVAL = " 'unsafe-eval'"  # Plotly compiles code for 3D figures
THEMES = ("", "light", "dark")
DRAWN = re.compile(r'^(?:define|drawn)\("(\w+)"', re.MULTILINE)  # in a script: the components that it draws


def html(views: Sequence[View], subject: Subject, theme: str = "") -> str:
    """One standalone page with views of one input. Raises ExplorerError if there is nothing to show."""
    return page([data_of(views, subject)], theme)


def data_of(views: Sequence[View], subject: Subject, wait: bool = False, unfolded: bool = True) -> dict[str, Any]:
    """The data of the file's page; long work is done if `wait`. Raises ExplorerError.

    With `unfolded`, the results of clicks are included where small.
    """
    subject = open_subject(views, subject)
    made = [one for view in views if (one := describe_view(view, subject, wait, unfolded))["parts"] or one["note"]]
    made = made or [{**describe_view(views[0], subject, wait, unfolded), "note": EMPTY}]
    tab, choice = where(type(views[0]))
    asked = tab.questions[choice]
    for side in made:
        side["heading"] = side["question"] if len(views) > 1 and side["question"] != asked else ""
    found = finding_of(views, subject)
    made_by = provenance.provenance_of(subject.model)
    return {
        "question": asked if len(views) > 1 else views[0].question,
        "input": input_strip(subject),
        "finding": found.text if found else "",
        "texts": [subject.text_a, subject.text_b],
        "model": subject.model.name,
        "views": made,
        "made": provenance.describe(made_by),
        "provenance": made_by,
    }


def page(sides: Sequence[dict[str, Any]], theme: str = "", frame: str = "", home: tuple[str, str] = ("", "")) -> str:
    """The HTML for what `data_of` made, several side by side.

    `theme` is "light" or "dark", by default the system's. The page reports its height to a notebook under the name `frame`.
    `home` is the address and the name of a page to go back to. A part's `variants` are other values that it may show, each with
    a label and a sentence; None is its own value.
    """
    parts = [part for side in sides for part in (side["input"], *(part for view in side["views"] for part in view["parts"]))]
    used = {part["component"] for part in parts if part and "component" in part}
    heavy = "PlotlyChart" in used
    stems = sorted(map(_stem, used))
    values = {
        "policy": POLICY.format(more=NEEDS_EVAL if heavy else ""),
        "title": markup.escape(f"{sides[0]['question']} · BERT Explorer"),
        "style": styles(stems, "prose", "sides", "page"),
        "theme": theme if theme in THEMES else "",
        "data": _deflated(json.dumps({"sides": sides, "frame": frame, "home": home}, separators=(",", ":"))),
        "plotly": f'<script type="text/plain" id="bx-plotly">{_plotly()}</script>\n' if heavy else "",
        "script": scripts(stems, "file/page.js"),
    }
    shell = (ASSETS / "file" / "page.html").read_text("utf-8")
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], shell)


def all_stems() -> list[str]:
    """The file names of all components that a page without the app can draw."""
    return sorted({_stem(component.name) for component in COMPONENTS.values()})


def scripts(stems: Iterable[str], entry: str) -> str:
    """The script that draws components by their file names, and then runs the module `entry`."""
    return bundle([*sorted({_scripts()[stem] for stem in stems}), entry])


@cache
def _scripts() -> dict[str, str]:
    """The path of the script that draws each component, by the component's file name; one script may draw several."""
    files = {file: DRAWN.findall(file.read_text("utf-8")) for file in (ASSETS / "components").glob("*.js")}
    return {_stem(name): f"components/{file.name}" for file, names in files.items() for name in names}


def styles(stems: Iterable[str], *own: str) -> str:
    """The style sheet of some components, by their file names, and then the page's own."""
    chosen = [*ALWAYS, *(stem for stem in stems if stem not in ALWAYS)]
    places = [ASSETS / "components" / f"{stem}.css" for stem in chosen]
    places += [ASSETS / "file" / f"{stem}.css" for stem in own]
    text = "\n".join(path.read_text("utf-8") for path in places if path.exists())
    return re.sub(r"</(?=script|style)", r"<\\/", text)


def _deflated(text: str) -> str:
    """A text compressed; browsers inflate it without a library."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


@cache
def _plotly() -> str:
    return _deflated(PLOTLY_JS.read_text("utf-8"))


def _stem(component: str) -> str:
    """The file name of a component: AttentionLines is in attention_lines."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", component).lower()
