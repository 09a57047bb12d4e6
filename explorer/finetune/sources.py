"""The examples to learn from: built in, typed, a file, or a data set of the Hub. Settings shared by several views."""

from collections import Counter
from typing import Any, TypeVar

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, TRAINING_EXAMPLES
from explorer.finetune.cards import cards_of
from explorer.finetune.compute.columns import Columns
from explorer.finetune.compute.files import FILE_TYPES, ExampleFile, read_file
from explorer.finetune.compute.from_table import built_in, examples_from_table
from explorer.finetune.compute.questions import QuestionFile, Questions, built_in_questions, read_typed
from explorer.finetune.kinds import ANSWERS, FILE, HUB, KINDS, READY, TEXTS, TYPED, WORDS, of_kind, sets
from explorer.finetune.opening import ORDERS, OUTSIDE, QUESTIONS, STARTER, Cards, Clicked
from explorer.finetune.typed import clicked, read_tags
from explorer.text import limits
from explorer.text.hub_data import EXAMPLE
from explorer.text.tables import Table
from explorer.text.tagged import TaggedFile
from explorer.training.examples import Examples, check_classes
from explorer.training.tagging import TaggedExamples, built_in_tagged, tagged_examples
from explorer.ui.settings import choice, memory, text, upload
from explorer.ui.view import View

NO_COLUMN = "(none)"
NAMES, DATA = "has names", "is data"
AS_THEY_LOOK = "as they look"
TOGETHER = "Variants of one sentence are held out together."
HANDFUL = 100  # questions: hardly any kind of question is learned from fewer
LABELLED = "labels of texts or pairs; choose examples of these above"
MISSING = {FILE: "Choose a file of examples.", HUB: "Name a data set and fetch it."}
IN_FILE: dict[type, str] = {Table: TEXTS, TaggedFile: WORDS, QuestionFile: ANSWERS}

AnyExamples = Examples | TaggedExamples | Questions
Sent = TypeVar("Sent", Table, TaggedFile, QuestionFile)
_of_tables: OnceCache[tuple[Table, Columns], tuple[Examples, list[str]]] = OnceCache(4)  # 50,000 rows take seconds


def _column(label: str) -> Any:
    return choice((), label, default="", menu=True, free=True, linked=False, min_width=90, visible=False)


class ExampleSettings(View):
    """The examples to learn from, for every view that needs them."""

    kind: str = of_kind()
    source: str = choice((TYPED, READY, FILE, HUB), "Examples", menu=True, elem_classes="inline")
    ready: str = choice(sets(), "Built-in set", menu=True, elem_classes="inline", when=lambda view: view.source == READY)
    classes: Cards = memory(STARTER, kept=cards_of)
    tagged_lines: str = text(
        "\n".join(line for line, _ in ORDERS),
        "Sentences, one per line",
        limit=BOX_CHARACTERS,
        lines=3,
        max_lines=6,
        visible=False,
        when=lambda view: (view.kind, view.source) == (WORDS, TYPED),
    )
    tagged_line: str = choice((), "The sentence to tag", default="", menu=True, free=True, linked=False, scale=3, visible=False)
    tag: str = choice((), "Tag for a click", default="DRINK", menu=True, free=True, scale=2, visible=False)
    clicks: Clicked = memory(ORDERS, kept=clicked, linked=False)
    asked: str = text(
        QUESTIONS,
        "Text, then lines: question | answer",
        limit=BOX_CHARACTERS,
        visible=False,
        lines=10,
        max_lines=16,
        when=lambda view: (view.kind, view.source) == (ANSWERS, TYPED),
    )
    table: ExampleFile | None = upload(
        label="Table, CoNLL or SQuAD file",
        types=FILE_TYPES,
        read=read_file,
        height=110,
        visible=False,
        when=lambda view: view.source == FILE,
    )
    data_set: str = text(
        EXAMPLE, "Data set on the hub", heard="submit", scale=4, visible=False, when=lambda view: view.source == HUB
    )
    text_column: str = _column("Text")
    label_column: str = _column("Label")
    second_column: str = _column("Second text")
    first_row: str = choice((NAMES, DATA), "The first row", menu=True, linked=False, min_width=90, visible=False)
    labels_are: str = choice(
        ((AS_THEY_LOOK, ""), ("classes", "classes"), ("numbers", "number")),
        "The labels are",
        menu=True,
        linked=False,
        min_width=90,
        visible=False,
    )

    def examples(self) -> tuple[AnyExamples, str]:
        """The examples, and a note about them. Raises InputError."""
        if self.kind == WORDS:
            return self._tagged()
        return self._questions() if self.kind == ANSWERS else self.texts()

    @property
    def ready_set(self) -> str:
        """The built-in set: the chosen one, or the first of the kind where that is of another kind."""
        kind = KINDS[self.kind]
        return self.ready if self.ready in kind.sets else kind.opening

    def title(self, examples: AnyExamples) -> str:
        """What a run on these examples is called."""
        if self.source == READY:
            return KINDS[self.kind].sets[self.ready_set].split(":")[0]
        if isinstance(examples, Questions):
            return "Answers, typed" if self.source == TYPED else "Answers, a file"
        tags = (label for label in examples.classes if self.kind == TEXTS or label != OUTSIDE)
        return " / ".join(tags)[:40]

    def texts(self) -> tuple[Examples, str]:
        """Texts or pairs with labels or numbers. Raises InputError."""
        if self.source == READY:
            examples = built_in(self.ready_set)
            return examples, TOGETHER if examples.groups else ""
        if self.source == TYPED:
            return self._typed(), ""
        second = "" if self.second_column == NO_COLUMN else self.second_column
        columns = Columns(self.text_column, self.label_column, second, kind=self.labels_are)
        table = self._sent(Table)
        examples, notes = _of_tables.get((table, columns), lambda: examples_from_table(table, columns))
        return examples, " ".join(notes)

    def _typed(self) -> Examples:
        pairs = []
        for number, (name, lines) in enumerate(self.classes, start=1):
            written = [line for line in lines if line.strip()]
            if written and not name.strip():
                raise InputError(f"Class {number} has sentences but no name; give it one.")
            pairs += [(limits.check_text(line, "a line"), name.strip()) for line in written]
        if not pairs:
            raise InputError("The cards have no sentences yet; type or paste some, one per line.")
        TRAINING_EXAMPLES.check(len(pairs), "sentences")
        check_classes(Counter(label for _, label in pairs))
        texts, labels = zip(*pairs, strict=True)
        return Examples(texts, labels, order=tuple(name.strip() for name, _ in self.classes))

    def _tagged(self) -> tuple[TaggedExamples, str]:
        if self.source == READY:
            return built_in_tagged(self.ready_set), ""
        if self.source == TYPED:
            return tagged_examples(read_tags(self.tagged_lines, self.clicks))
        file = self._sent(TaggedFile)
        examples, note = tagged_examples(file.sentences)
        return examples, f"{file.about} {note}".strip()

    def _questions(self) -> tuple[Questions, str]:
        """The questions; beside a handful of typed ones the built-in ones, since a handful teaches next to nothing."""
        if self.source == READY:
            return built_in_questions(), ""
        if self.source != TYPED:
            return (file := self._sent(QuestionFile)).questions, file.about
        typed = read_typed(self.asked)
        if len(typed) >= HANDFUL:
            return typed, ""
        note = f"{len(typed)} are yours; a handful teaches little, so the built-in questions are learned too."
        return Questions(built_in_questions().rows + typed.rows), note

    def _sent(self, wanted: type[Sent]) -> Sent:
        """The uploaded file, if it is of the kind that is chosen. Raises InputError."""
        if self.table is None:
            raise InputError(MISSING[self.source])
        if not isinstance(self.table, wanted):
            raise InputError(f"This file is for another kind of task; choose {KINDS[IN_FILE[type(self.table)]].label!r} above.")
        return self.table


def starter() -> tuple[Examples, str]:
    """The examples typed when the page opens, and the title of a run on them."""
    given = ExampleSettings()
    examples, _ = given.texts()
    return examples, given.title(examples)


def size_of(examples: AnyExamples) -> tuple[int, int]:
    """The number of examples, and of their words."""
    if isinstance(examples, TaggedExamples):
        return len(examples), len(examples.words)
    return len(examples), sum(len(text.split()) for pair in examples.pairs for text in pair)
