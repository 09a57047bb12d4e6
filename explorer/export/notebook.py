"""Views for programs: drawn in a notebook by the app's own JavaScript in a frame, or as tables. No server runs."""

from __future__ import annotations

import html as markup
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from explorer.bert.explorer import load
from explorer.bert.network import Network
from explorer.bert.provenance import provenance_of
from explorer.bert.trace import Trace
from explorer.core.errors import CapabilityError, InputError
from explorer.core.lazy import pandas
from explorer.export.contents import open_subject
from explorer.export.named import describe, read_settings, view_named
from explorer.export.page_file import THEMES, data_of, page
from explorer.export.tables import check_of, tables_of
from explorer.tabs import VIEWS
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View, finding_of

SANDBOX = "allow-scripts allow-downloads allow-popups"  # no same-origin: the frame cannot reach the notebook
HEIGHT = 620  # pixels of the frame until it has reported its own height, for which the notebook must run FOLLOWING
FOLLOWING = """<script>(() => {{
  const frame = document.getElementById("{id}");
  addEventListener("message", ({{ data, source }}) => {{
    if (frame && source === frame.contentWindow && data?.bertExplorer === "{id}") frame.style.height = `${{data.height + 4}}px`;
  }});
}})()</script>"""


@dataclass(frozen=True, eq=False)
class Shown:
    """One or two views that draw themselves where a notebook displays them; `save(path)` writes an HTML file."""

    sides: Sequence[dict[str, Any]]
    theme: str = ""

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise InputError("The theme must be 'light', 'dark' or '', which is that of the system.")

    @property
    def html(self) -> str:
        return page(self.sides, self.theme)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file. Returns its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        name = f"bx-{uuid.uuid4().hex}"
        source = markup.escape(page(self.sides, self.theme, name))
        title = markup.escape(str(self).splitlines()[0])
        style = f"width:100%;height:{HEIGHT}px;border:0;"
        frame = f'<iframe id="{name}" title="{title}" sandbox="{SANDBOX}" style="{style}" srcdoc="{source}"></iframe>'
        return frame + FOLLOWING.format(id=name)

    def __repr__(self) -> str:
        return "\n".join(f"{side['question']} {side['finding']}".strip() for side in self.sides)


def show(trace: Trace, view: str = "attention/head", *more: str, theme: str = "", **settings: Any) -> Shown:
    """A view of a trace, or several together, drawn where a notebook displays it.

    `settings` are those that `explorer.settings(view)` lists, and `layer` (from 1), `head` (from 1) and `token` (from 0), the
    selection; what is not given is as the app opens the view. `theme` is "light" or "dark", by default the system's. Long work
    is done. Raises InputError for an unknown view or setting, CapabilityError if the model cannot serve the view.
    """
    return Shown((_side(trace, (view, *more), settings),), theme)


def compare(trace: Trace, other: Trace, view: str = "attention/head", *more: str, theme: str = "", **settings: Any) -> Shown:
    """The same view of two traces side by side: two inputs or two models. Arguments and errors are those of `show`."""
    return Shown(tuple(_side(run, (view, *more), settings) for run in (trace, other)), theme)


def _side(trace: Trace, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    return data_of(*read_settings([view_named(name) for name in names], given, Subject.of(trace)), wait=True)


def settings(view: str = "", model: Network | None = None) -> pandas.DataFrame:
    """A view's settings with defaults and ranges, those of `model`; without a name, the list of all views.

    Raises InputError for an unknown view.
    """
    if not view:
        return pandas.DataFrame([(name, kind.question) for name, kind in VIEWS.items()], columns=["view", "question"])
    about = describe(view_named(view), (model or load()).capabilities)["settings"]
    rows = [
        (name, one["default"], one.get("choices") or one.get("range") or one["type"], one["label"]) for name, one in about.items()
    ]
    return pandas.DataFrame(rows, columns=["setting", "default", "may be", "label"])


# ---- The numbers.


@dataclass(frozen=True, eq=False)
class Viewed:
    """A view of one input, computed: its tables, finding, check and provenance."""

    view: View
    subject: Subject
    content: Content

    @property
    def tables(self) -> dict[str, pandas.DataFrame]:
        """The numbers of each part, by its name: layers and heads count from 1, positions from 0."""
        found = tables_of(self.view, self.content)
        return {name: pandas.DataFrame(dict(zip(one.columns, one.cells, strict=True))) for name, one in found.items()}

    @property
    def finding(self) -> str:
        found = finding_of([self.view], self.subject)
        return found.text if found else ""

    @property
    def check(self) -> str:
        return check_of(self.view, self.content)

    @property
    def provenance(self) -> dict[str, Any]:
        return provenance_of(self.subject.model)

    def __repr__(self) -> str:
        return f"{self.view.question} {self.finding}".strip()


def view(trace: Trace, name: str, **settings: Any) -> Viewed:
    """A view of a trace, computed; long work is done. Arguments as of `explorer.show`.

    Raises InputError for an unknown view or setting, CapabilityError if the view shows nothing for this model or input.
    """
    (one,), subject = read_settings([view_named(name)], settings, Subject.of(trace))
    subject = open_subject([one], subject)
    if why := one.unless(subject):
        raise CapabilityError(why)
    return Viewed(one, subject, one.compute(subject))
