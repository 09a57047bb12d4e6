"""The tagged words to learn from: built in, typed and tagged by clicking, or a file."""

from typing import Any

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, LABEL, TABLE_MEGABYTES, TEXTS
from explorer.finetune.compute.tag_task import Tagging
from explorer.finetune.compute.task import Task, TrainingPlan
from explorer.finetune.example_settings import FILE, READY, TYPED
from explorer.text import limits
from explorer.text.lines import split_lines
from explorer.text.tagged import TAGGED_FILE_TYPES, TaggedFile, TaggedSentence, read_tagged, split_words
from explorer.training.tagging import TAGGED, TaggedExamples, built_in_tagged, tagged_examples
from explorer.ui.layout import row
from explorer.ui.pictures.bars import bars
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.settings import choice, memory, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, View, part, props, sentence, settle

OUTSIDE = "O"  # the tag of a word without a click
OPENING = "names"
MOST_BARS = 5
FEW = 100  # sentences; a fifth of fewer says little
MOST_SHOWN = 40  # words of a sentence
MOST_LETTERS = 60  # of a sentence in the menu
STARTER: tuple[tuple[str, dict[int, str]], ...] = (  # orders in a café: the words that a waiter writes down
    ("Two large coffees and a tea , please .", {0: "COUNT", 1: "SIZE", 2: "DRINK", 4: "COUNT", 5: "DRINK"}),
    ("I would like one small beer .", {3: "COUNT", 4: "SIZE", 5: "DRINK"}),
    ("Could we have three soups and bread ?", {3: "COUNT", 4: "FOOD", 6: "FOOD"}),
    ("A large salad for my wife and water for me .", {0: "COUNT", 1: "SIZE", 2: "FOOD", 7: "DRINK"}),
    ("Bring us four small cakes with the coffee .", {2: "COUNT", 3: "SIZE", 4: "FOOD", 7: "DRINK"}),
    ("My friend takes the fish and a glass of wine .", {4: "FOOD", 6: "COUNT", 9: "DRINK"}),
    ("Just a small juice for the child .", {1: "COUNT", 2: "SIZE", 3: "DRINK"}),
    ("We are still looking , thank you .", {}),
)
STARTER_TAGS = tuple((text, tuple(tags.get(place, OUTSIDE) for place in range(len(split_words(text))))) for text, tags in STARTER)

Clicked = tuple[tuple[str, tuple[str, ...]], ...]
"""Sentences, and the tags of their words."""


def clicked(value: object) -> Clicked:
    """Valid tags from a browser's memory of clicks."""
    pairs = value[: TEXTS.most] if isinstance(value, list | tuple) else ()
    pairs = [pair for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)]
    return tuple((line, tuple(tag[: LABEL.most] for tag in tags)) for line, tags in pairs if _are_tags(tags))


def _are_tags(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(tag, str) and tag.strip() for tag in value)


class WordExamples(View):
    """The examples to learn from: a sentence with its tags, and the frequency of each tag."""

    name, question = "fine-tune/words-examples", "What is there to learn from?"
    width = 5
    layout = (row("words_from", "words_set"), row("words_line", "words_tag"))
    names = ("words_from", "words_set", "words_typed", "words_line", "words_tag", "words_clicked", "words_file", "tagged")
    words_from: str = choice((READY, TYPED, FILE), "Examples", menu=True, elem_classes="inline")
    words_set: str = choice(
        [(title, name) for name, title in TAGGED.items()],
        "Built-in set",
        elem_classes="inline",
        default=OPENING,
        menu=True,
        when=lambda view: view.words_from == READY,
    )
    words_typed: str = text(
        "\n".join(line for line, _ in STARTER),
        "Sentences, one a line",
        limit=BOX_CHARACTERS,
        lines=3,
        max_lines=6,
        visible=False,
        when=lambda view: view.words_from == TYPED,
    )
    words_line: str = choice((), "The sentence to tag", default="", menu=True, free=True, linked=False, scale=3, visible=False)
    words_tag: str = choice(
        (), "The tag that a click gives (or type your own)", default="DRINK", menu=True, free=True, scale=2, visible=False
    )
    words_clicked: Clicked = memory(STARTER_TAGS, kept=clicked, linked=False)
    words_file: TaggedFile | None = upload(
        label=f"CoNLL-U or CoNLL, up to {TABLE_MEGABYTES.most} MB",
        types=TAGGED_FILE_TYPES,
        read=read_tagged,
        height=110,
        visible=False,
        when=lambda view: view.words_from == FILE,
    )
    tagged = part("words", optional=True)
    about = sentence(classes="caption")
    balance = part("bars")

    def examples(self) -> tuple[TaggedExamples, str]:
        """The examples, and a note about them. Raises InputError."""
        if self.words_from == READY:
            return built_in_tagged(self.words_set), ""
        if self.words_from == TYPED:
            return tagged_examples(self._typed())
        if self.words_file is None:
            raise InputError("Choose a file: one word a line with its tag, and a blank line between sentences.")
        examples, note = tagged_examples(self.words_file.sentences)
        return examples, f"{self.words_file.about} {note}".strip()

    def title(self, examples: TaggedExamples) -> str:
        if self.words_from == READY:
            return TAGGED[self.words_set].split(":")[0]
        return " / ".join(tag for tag in examples.classes if tag != OUTSIDE)[:40]

    def task(self, model: Explorer, examples: TaggedExamples, plan: TrainingPlan) -> Task:
        return Tagging(model, examples, plan)

    @property
    def lines(self) -> list[str]:
        """The sentences typed, without repeats."""
        return [line for line in dict.fromkeys(split_lines(self.words_typed)) if split_words(line)]

    @property
    def line(self) -> str:
        """The sentence shown for tagging; '' if there is none."""
        lines = self.lines
        return self.words_line if self.words_line in lines else next(iter(lines), "")

    def tags_of(self, line: str) -> tuple[str, ...]:
        """The tags of the words of a typed sentence."""
        words, tags = split_words(line), dict(self.words_clicked).get(line, ())
        return tags if len(tags) == len(words) else (OUTSIDE,) * len(words)

    def compute(self, subject: Subject) -> Content:
        shown = self._menus()
        try:
            examples, note = self.examples()
        except InputError as error:
            typed = self._sentence(split_words(self.line), self.tags_of(self.line)) if self.words_from == TYPED else {}
            return {**shown, **typed, "about": str(error), "balance": None}
        first = examples.sentences[0]
        if self.words_from == TYPED:
            first = TaggedSentence(tuple(split_words(self.line)), self.tags_of(self.line))
            note = "Click a word to give it the tag, and once more to take it away. Words without one are O."
        most = subject.model.capabilities.max_tokens - 2  # [CLS] and [SEP] count too
        if (long := sum(len(sentence.words) > most for sentence in examples.sentences)) > 0:
            note += f" Of {long:,} of them the model reads the first {most:,} pieces; the words after these are left out."
        return {**shown, **self._sentence(first.words, first.tags), **_describe(examples, note)}

    def on_tagged(self, subject: Subject, index: object) -> Change:
        """Give a clicked word, [row, column], the chosen tag, or remove it if the word has it already."""
        _, place = limits.check_cell(index)
        line, tag = self.line, (self.words_tag or "").strip()[: LABEL.most]
        tags = list(self.tags_of(line))
        if self.words_from != TYPED or place >= len(tags):
            return settle()
        if not tag:
            raise InputError("Choose a tag first, or type one of your own.")
        tags[place] = OUTSIDE if tags[place] == tag else tag
        return settle(words_clicked=tuple({**dict(self.words_clicked), line: tuple(tags)}.items()))

    def _typed(self) -> list[TaggedSentence]:
        if not self.lines:
            raise InputError("There are no sentences yet; type or paste some, one a line.")
        TEXTS.check(len(self.lines), "sentences")
        checked = [limits.check_text(line, "a line") for line in self.lines]
        return [TaggedSentence(tuple(split_words(line)), self.tags_of(line)) for line in checked]

    def _menus(self) -> Content:
        typed = self.words_from == TYPED
        known = dict.fromkeys(tag for line in self.lines for tag in self.tags_of(line) if tag != OUTSIDE) if typed else {}
        lines = [(line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 1]}…", line) for line in self.lines]
        return {
            "words_line": props(choices=lines, value=self.line, visible=typed),
            "words_tag": props(choices=list(dict.fromkeys([*known, self.words_tag or ""])), visible=typed),
        }

    def _sentence(self, words: Any, tags: Any) -> Content:
        cells = [(tag, 0.0 if tag == OUTSIDE else 0.6, "") for tag in tags[:MOST_SHOWN]]
        return {"tagged": word_grid("word", words[:MOST_SHOWN], ["tag"], [cells])} if words else {}


def _describe(examples: TaggedExamples, note: str) -> Content:
    words = len(examples.words)
    held_out = "a fifth of the sentences, unless you choose another share, is held out and never trained on"
    if len(examples) < FEW:
        held_out += "; with so few, what is right there is much a matter of luck"
    largest = examples.counts.most_common(MOST_BARS)
    more = f" The {len(largest)} most frequent of {len(examples.classes)} tags:" if len(examples.classes) > len(largest) else ""
    return {
        "about": f"{len(examples):,} sentences with {words:,} words; {held_out}. {note}{more}",
        "balance": bars([(tag, count / words, f"{count:,}") for tag, count in largest]),
    }
