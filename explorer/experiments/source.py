"""Which items an experiment is about: those of a suite, typed ones, or a file."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

from explorer.core.cache import Recent
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.experiments.compute.heads_off import questions_of
from explorer.experiments.compute.items import Item, items_from_lines, lines_of, read_items, suite_items
from explorer.experiments.compute.suites import TITLES
from explorer.ui.layout import LayoutRow, row
from explorer.ui.long_view import LongView
from explorer.ui.settings import choice, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, props

TYPED, FILE = "typed", "file"
HOW = (("zeros", "zero"), ("its mean over all items", "mean"), ("what it gives in another item", "resample"))
CHOOSE = "CSV with text, word, foil…"
NO_FILE = "Choose a file with the columns text, word and foil; text_b may be a fourth."

LOOKED_AT = 200  # items, before they are asked
_problems: Recent[Hashable, str] = Recent(16)


class ItemsView(LongView):
    """Every head switched off in many items: those of a suite, typed ones, or a file."""

    name, question = "experiments", ""
    layout: ClassVar[Sequence[LayoutRow]] = (row("source", "how"),)
    source: str = choice(
        [*((title, name) for name, (title, _) in TITLES.items()), ("typed here", TYPED), ("a file of yours", FILE)],
        "Items",
        menu=True,
        elem_classes="inline",
    )
    how: str = choice(HOW, "A head that is off gives", menu=True, elem_classes="inline")
    file: tuple[Item, ...] | None = upload(label=CHOOSE, read=read_items, as_button=True, when=lambda view: view.source == FILE)
    typed: str = text(
        "",
        "One item a line: a sentence with [MASK] | the word that belongs there | a foil",
        limit=BOX_CHARACTERS,
        heard="submit blur",
        lines=5,
        max_lines=10,
        placeholder=lines_of(suite_items("agreement")[:2]),
        when=lambda view: view.source == TYPED,
    )

    @property
    def items(self) -> tuple[Item, ...]:
        """The items. Raises InputError where there are none, or a line is no item."""
        if self.source == TYPED:
            return items_from_lines(self.typed)
        return self.file or () if self.source == FILE else suite_items(self.source)

    def problem(self, subject: Subject) -> str:
        """Why these items cannot be asked, in a sentence that says what to do; '' where they can. Many are not looked at yet."""
        key = subject.model.checkpoint, self.source, self.typed, self.file
        if (found := _problems.get(key)) is None:
            _problems.put(key, found := self._problem(subject))
        return found

    def _problem(self, subject: Subject) -> str:
        if self.source == FILE and not self.file:
            return NO_FILE
        if self.source == TYPED and not self.typed.strip():
            return "Type at least two items, each a line: a sentence with [MASK] | the word that belongs there | a foil."
        try:
            if len(items := self.items) <= LOOKED_AT:
                questions_of(subject.model, items)
        except InputError as error:
            return str(error)
        return ""

    def on_file(self, subject: Subject, file: Any) -> Change:
        """A file was read. Raises InputError when none was."""
        if file is None:
            raise InputError(NO_FILE)
        return Change(settings={"source": FILE}, content={"file": props(label=f"{CHOOSE} ({len(file):,} items)")})
