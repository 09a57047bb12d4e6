"""A view for programs: its numbers as data frames, its finding and check, and its charts as SVG, without a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.bert.provenance import provenance_of
from explorer.bert.trace import Trace
from explorer.core.errors import CapabilityError, InputError
from explorer.core.lazy import pandas
from explorer.export.contents import content_of, opened
from explorer.export.notebook import asked
from explorer.export.tables import check_of, tables_of
from explorer.ui.pictures import svg
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View, finding_of

ONE_COLUMN, TWO_COLUMNS = 85, 175  # mm: the widths of a journal
SVG = "svg"


@dataclass(frozen=True, eq=False)
class Viewed:
    """A view of one input, computed. The subject has the layer and head that the view opened with."""

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
        """The most telling fact in a sentence, '' if the view has none."""
        found = finding_of([self.view], self.subject)
        return found.text if found else ""

    @property
    def check(self) -> str:
        """How far the numbers are from the model's own, in a sentence; '' if the view has no check."""
        return check_of(self.view, self.content)

    @property
    def provenance(self) -> dict[str, Any]:
        """The model with the hash of its weights, and the versions that computed this."""
        return provenance_of(self.subject.model)

    def figure(self, kind: str = SVG, part: str = "", width: float = ONE_COLUMN) -> str:
        """A chart of the view as the text of an SVG, `width` millimetres wide: 85 for one column of a journal, 175 for two.

        `part` names the chart, by default the first. Raises InputError for another kind of file, and for pictures that only the
        page can draw: its ⤓ saves them.
        """
        if kind != SVG:
            raise InputError("Python draws 'svg' only; the page saves a picture as PNG.")
        charts = [name for name, one in self.view.parts.items() if one.kind == "chart" and self.content.get(name) is not None]
        if part and part not in charts:
            raise InputError(f"There is no chart {part[:40]!r} here; there are {', '.join(charts) or 'none'}.")
        if not charts:
            raise InputError("This view has no chart that Python can draw; open it in the page, whose ⤓ saves its picture.")
        name = part or charts[0]
        value = self.content[name]
        made = self.provenance
        return svg.drawn(value() if callable(value) else value, width, title=self.view.question, made=made)

    def __repr__(self) -> str:
        return f"{self.view.question} {self.finding}".strip()


def view(trace: Trace, name: str, **settings: Any) -> Viewed:
    """A view of a trace, computed; long work is done. Arguments as of `explorer.show`.

    Raises InputError for an unknown view or setting, CapabilityError if the view shows nothing for this model or input.
    """
    (one,), subject = asked(trace, (name,), settings)
    subject = opened([one], subject)
    if why := one.unless(subject):
        raise CapabilityError(why)
    return Viewed(one, subject, content_of(one, subject, wait=True))
