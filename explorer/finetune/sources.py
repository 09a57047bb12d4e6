"""The examples to learn from: built in, typed, a file, or a data set of the Hub. Settings shared by several views."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.core.limits import TEXTS as MOST_TEXTS
from explorer.finetune.cards import ORDERS, OUTSIDE, STARTER, Cards, cards_of
from explorer.finetune.compute.from_table import FILE_TYPES, AnyExamples, ExampleFile, built_in, examples_of, read_file
from explorer.finetune.compute.questions import Questions
from explorer.finetune.recipe import ANSWERS, FILE, HUB, KINDS, READY, TEXTS, TYPED, WORDS, of_kind, sets
from explorer.text import limits
from explorer.text.corpora import Corpus
from explorer.text.lines import split_lines
from explorer.text.tables import Table
from explorer.text.tagged import Sentence, split_words
from explorer.training.columns import Columns
from explorer.training.examples import HELD_OUT_SHARE, Examples, ScoredExamples, check_examples
from explorer.training.hub_data import EXAMPLE
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.training.tagging import TaggedExamples, tagged_examples
from explorer.ui.pictures.bars import bars
from explorer.ui.settings import choice, memory, text, upload
from explorer.ui.view import Content, View

NO_COLUMN = "(none)"
AS_THEY_LOOK = "as they look"
TOGETHER = "Variants of one sentence are held out together."
MOST_BARS = 8
LABELLED = "The loop and the probe learn labels of texts or pairs. Choose examples of these above."
MISSING = {FILE: "Choose a file of examples.", HUB: "Name a data set and fetch it."}
OF_TABLES: dict[str, Any] = {"menu": True, "linked": False, "min_width": 90, "when": lambda view: view.is_labelled_table}
IN_FILE: dict[type, str] = {Table: TEXTS, Corpus: WORDS, Questions: ANSWERS}


def read_tags(line: str) -> Sentence:
    """The words of a line with their tags: 'small/SIZE beer/DRINK, please', where a word without a tag in capitals has O."""
    words: list[str] = []
    tags: list[str] = []
    for piece in line.split():
        word, _, tag = (bare := piece.rstrip(".,;:!?")).rpartition("/")
        is_tagged = bool(word) and tag.isupper()
        mine = split_words(word if is_tagged else piece)
        after = split_words(piece[len(bare) :]) if is_tagged else []
        words += [*mine, *after]
        tags += [*[tag if is_tagged else OUTSIDE] * len(mine), *[OUTSIDE] * len(after)]
    return Sentence(tuple(words), tuple(tags))


def _column(label: str) -> Any:
    return choice((), label, default="", free=True, **OF_TABLES)


class ExampleSettings(View):
    """The examples to learn from, for every view that needs them."""

    kind: str = of_kind()
    source: str = choice((TYPED, READY, FILE, HUB), "Examples", menu=True, elem_classes="inline")
    ready: str = choice(sets(), "Built-in set", menu=True, elem_classes="inline long", when=lambda view: view.origin == READY)
    classes: Cards = memory(STARTER, kept=cards_of)
    tagged_lines: str = text(
        ORDERS,
        "Sentences, one per line: word/TAG",
        limit=BOX_CHARACTERS,
        lines=8,
        max_lines=12,
        visible=False,
        when=lambda view: (view.kind, view.source) == (WORDS, TYPED),
    )
    file: ExampleFile | None = upload(
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
    labels_are: str = choice(((AS_THEY_LOOK, ""), ("classes", "classes"), ("numbers", "number")), "The labels are", **OF_TABLES)

    def examples(self) -> tuple[AnyExamples, str]:
        """The examples, and a note about them. Raises InputError."""
        if self.origin == READY:
            found = built_in(self.ready_set)
            return found, TOGETHER if isinstance(found, Examples) and found.groups else ""
        if self.source == TYPED:
            return (self._typed(), "") if self.kind == TEXTS else tagged_examples(self._typed_words())
        if self.file is None:
            raise InputError(MISSING[self.source])
        if (kind := IN_FILE[type(self.file)]) != self.kind:
            raise InputError(f"This file is for another kind of task. Choose {KINDS[kind].label!r} above.")
        return examples_of(self.file, self.columns)

    @cached_property
    def described(self) -> str:
        """What the examples are, or why there are none; another one for other examples."""
        try:
            return f"{self.kind} {hash(self.examples()[0])}"
        except InputError as why:
            return str(why)

    def labelled(self) -> Examples:
        """Texts or pairs with labels. Raises InputError for examples of another kind."""
        if isinstance(found := self.examples()[0], Examples) and not isinstance(found, ScoredExamples):
            return found
        raise InputError(LABELLED)

    @property
    def is_labelled_table(self) -> bool:
        return self.kind == TEXTS and isinstance(self.file, Table)

    @property
    def columns(self) -> Columns:
        """The chosen columns of a table."""
        second = "" if self.second_column == NO_COLUMN else self.second_column
        return Columns(self.text_column, self.label_column, second, kind=self.labels_are)

    @property
    def origin(self) -> str:
        """The source, or the built-in sets where the kind of task has no such source."""
        return self.source if self.source in KINDS[self.kind].sources else READY

    @property
    def ready_set(self) -> str:
        """The built-in set: the chosen one, or the first of the kind where that is of another kind."""
        kind = KINDS[self.kind]
        return self.ready if self.ready in kind.sets else kind.opening

    def title(self, examples: AnyExamples) -> str:
        if self.origin == READY:
            return KINDS[self.kind].sets[self.ready_set].split(":")[0]
        if isinstance(examples, Questions):
            return "Answers, a file"
        tags = (label for label in examples.classes if self.kind == TEXTS or label != OUTSIDE)
        return " / ".join(tags)[:40]

    def _typed(self) -> Examples:
        rows: list[tuple[str, str]] = []
        for number, (name, lines) in enumerate(self.classes, start=1):
            written = [line for line in lines if line.strip()]
            if written and not name.strip():
                raise InputError(f"Class {number} has sentences but no name. Name it.")
            rows += [(line, name.strip()) for line in written]
        if not rows:
            raise InputError("The cards have no sentences yet. Type or paste some, one per line.")
        return replace(check_examples(rows), order=tuple(name.strip() for name, _ in self.classes))

    def _typed_words(self) -> list[Sentence]:
        if not (lines := [line for line in dict.fromkeys(split_lines(self.tagged_lines)) if split_words(line)]):
            raise InputError("The box has no sentences yet. Type or paste some, one per line.")
        MOST_TEXTS.check(len(lines), "sentences")
        return [read_tags(limits.check_text(line, "a line")) for line in lines]


def size_of(examples: AnyExamples) -> tuple[int, int]:
    if isinstance(examples, TaggedExamples):
        return len(examples), len(examples.words)
    return len(examples), sum(len(text.split()) for pair in examples.pairs for text in pair)


def is_few(examples: AnyExamples) -> bool:
    """Whether the examples are so few that a head can be trained again after every letter typed."""
    return len(examples) * HELD_OUT_SHARE < FEWEST_HELD_OUT and type(examples) is Examples


def describe(examples: AnyExamples, note: str, in_turn: bool) -> Content:
    """How many examples there are, which are held out, or each `in_turn`, and bars of their labels."""
    if isinstance(examples, Questions):
        sizes = f"{len(examples):,} questions on {len(examples.texts):,} texts, {examples.unanswered:,} without an answer there"
        return {"about": f"{sizes}; all questions on about a fifth of the texts are held out. {note}"}
    if isinstance(examples, TaggedExamples):
        sizes = f"{len(examples):,} sentences with {len(examples.words):,} words; a fifth of the sentences"
        return _balance(f"{sizes} is held out unless you choose another share. {note}", "tags", examples.counts)
    sizes = f"{len(examples):,} {'pairs of sentences' if examples.texts_b else 'sentences'}"
    held_out = "a part of each class is held out, a fifth unless you choose another, and never trained on"
    if isinstance(examples, ScoredExamples):
        return {"about": f"{sizes}, each with a number; {held_out.replace('class', 'fifth of the numbers')}. {note}"}
    if in_turn:
        held_out = "each is judged by a head trained without it"
    return _balance(f"{sizes}; {held_out}. {note}", "classes", Counter(examples.counts), examples.classes)


def _balance(about: str, what: str, counted: Counter[str], coloured: Sequence[str] = ()) -> Content:
    """The largest of the labels as bars, in the colours that they have on the map if they are points there."""
    largest, total = counted.most_common(MOST_BARS), counted.total()
    more = f" The {len(largest)} largest of {len(counted)} {what}:" if len(counted) > len(largest) else ""
    colours = [coloured.index(label) for label, _ in largest] if coloured else None
    rows = [(label, count / total, f"{count:,}") for label, count in largest]
    return {"about": f"{about}{more}", "balance": bars(rows, colours)}
