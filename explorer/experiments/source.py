"""Which items an experiment is about: those of a suite or the corpus, typed ones, those of a template, or a file."""

from collections.abc import Hashable
from typing import Any

from explorer.bert.explorer import Explorer
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.experiments.compute import corpus_items, templates
from explorer.experiments.compute.items import Item, items_from_lines, lines_of, read_items, suite_items
from explorer.experiments.compute.question import Question
from explorer.experiments.compute.questions import QUESTIONS, question_of
from explorer.experiments.compute.reading import read_items_as
from explorer.experiments.compute.suites import TITLES
from explorer.experiments.compute.targets import LABEL, NEXT_SENTENCE, WORD
from explorer.experiments.naming import of_items
from explorer.experiments.questions import TELLINGS
from explorer.ui.long_view import LongView
from explorer.ui.settings import choice, number, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, props

TYPED, FILE, TEMPLATE, CORPUS = "typed", "file", "template", "corpus"
CHOOSE = "CSV with text, word, foil…"
NO_FILE = "Choose a file with the columns text, word and foil, and perhaps text_b and group."
NOTHING_TYPED = "Type at least two items, each a line: a sentence with [MASK] | the word that belongs there | a foil."

OTHERS = (("typed here", TYPED), ("a template", TEMPLATE), ("the corpus", CORPUS), ("your own file", FILE))
WAYS = {name: telling.ways for name, telling in TELLINGS.items() if telling.ways}
PATH = "path"
HEAD_OF = {WORD: "fill_mask", NEXT_SENTENCE: "next_sentence", LABEL: "own_head"}
LOOKED_AT = 200  # items, before they are asked
_refusals: OnceCache[Hashable, str] = OnceCache(16)
_made: OnceCache[Hashable, tuple[Item, ...]] = OnceCache(16)  # items of templates and of the corpus


def _from_corpus(view: Any) -> bool:
    return view.source == CORPUS


def _way(asks: str) -> Any:
    """The setting that says how one question is asked."""
    _, label, called = WAYS[asks]
    ways = QUESTIONS[asks].ways
    options = list(zip(called, ways, strict=True))
    return choice(options, label, default=ways[0], menu=True, when=lambda view: view.asks == asks, scale=3, elem_classes="inline")


class ItemsView(LongView):
    """One question asked of many items."""

    name, question = "experiments", ""
    source: str = choice(
        [*((title, name) for name, (title, _) in TITLES.items()), *OTHERS], "Items", menu=True, elem_classes="inline"
    )
    file: tuple[Item, ...] | None = upload(label=CHOOSE, read=read_items, as_button=True, when=lambda view: view.source == FILE)
    typed: str = text(
        "",
        "Items: sentence | word | foil",
        info="One item per line; the sentence has a [MASK]. A line that begins with # names a group of items.",
        limit=BOX_CHARACTERS,
        heard="submit blur",
        lines=5,
        max_lines=10,
        placeholder=lines_of(suite_items("agreement")[:2]),
        when=lambda view: view.source == TYPED,
    )
    template: str = text(
        templates.EXAMPLE,
        "Templates: sentence | word | foil",
        info="A name in braces is a slot. A line below fills the slot: thing = key, cup. ?3 takes the model's best three.",
        limit=BOX_CHARACTERS,
        heard="submit blur",
        lines=4,
        max_lines=10,
        when=lambda view: view.source == TEMPLATE,
    )
    pairs: str = text(
        "is/are, was/were",
        "Sentences with one word of",
        heard="submit blur",
        max_lines=2,
        when=_from_corpus,
        elem_classes="inline",
    )
    longest: int = number(
        corpus_items.LONGEST,
        "Words at most",
        low=2,
        high=corpus_items.MOST_WORDS,
        box=True,
        when=_from_corpus,
        elem_classes="inline",
    )
    mark: str = choice(
        [
            ("nothing", corpus_items.NOTHING),
            ("its subject", corpus_items.SUBJECT),
            ("the word it depends on", corpus_items.GOVERNOR),
        ],
        "Mark",
        menu=True,
        when=_from_corpus,
        elem_classes="inline",
    )

    asks: str = choice([(one.menu, name) for name, one in TELLINGS.items()], "Measure", menu=True, scale=5, elem_classes="inline")
    how: str = _way("heads_off")
    estimated: str = _way("attribution_patching")
    patched: str = _way("patching")
    received: str = _way(PATH)
    into: str = text(
        "",
        "Into head",
        heard="submit blur",
        max_lines=1,
        placeholder="all later ones",
        when=lambda view: view.asks == PATH,
        elem_classes="inline",
    )
    erased: str = _way("erase")
    moved: str = _way("direction")
    reading: str = _way("lens")
    looks: str = _way("attention")
    link: str = _way("cut")
    scored: str = _way("attribution")
    likelihood: str = _way("likelihood")
    target: str = choice(
        [("word and foil", WORD), ("the next sentence", NEXT_SENTENCE), ("labels of a fine-tuned head", LABEL)],
        "Judged by",
        menu=True,
        when=lambda view: len(QUESTIONS[view.asks].targets) > 1,
        elem_classes="inline",
    )

    @property
    def chosen_way(self) -> str:
        """How the question is asked, "" where there is one way only."""
        way = str(getattr(self, WAYS[self.asks][0])) if self.asks in WAYS else ""
        return f"{way} {self.into.strip()}".strip() if self.asks == PATH else way

    @property
    def chosen_target(self) -> str:
        """What the items are judged by."""
        return self.target if self.target in QUESTIONS[self.asks].targets else WORD

    def items_of(self, model: Explorer) -> tuple[Item, ...]:
        """The items, some of which a model may make. Raises InputError where there are none, or a line is not an item."""
        if self.source == TYPED:
            return items_from_lines(self.typed)
        if self.source == FILE:
            return self.file or ()
        if self.source == TEMPLATE:
            return _made.get((model.checkpoint, self.template), lambda: templates.template_items(self.template, model))
        if self.source == CORPUS:
            asked = self.pairs, self.longest, self.mark
            return _made.get(asked, lambda: corpus_items.corpus_items(*asked))
        return suite_items(self.source)

    def unless(self, subject: Subject) -> str:
        """The model needs a head that its target reads."""
        reasons = [subject.model.why_not(HEAD_OF[target]) for target in QUESTIONS[self.asks].targets]
        return reasons[0] if all(reasons) else ""

    def asked(self, subject: Subject) -> Question:
        """The question. Raises CapabilityError for what the model lacks."""
        return question_of(subject.model, self.asks, self.chosen_way, self.chosen_target)

    def refusal(self, subject: Subject) -> str:
        """Why these items cannot be asked; '' if they can. Beyond LOOKED_AT items that is seen only when they are asked."""
        given = self.source, self.typed, self.template, self.pairs, self.longest, self.mark, self.file
        key = subject.model.checkpoint, *given, self.asks, self.chosen_way, self.chosen_target
        if (found := _refusals.peek(key)) is None:
            _refusals.put(key, found := self._refusal(subject))
        return found

    def _refusal(self, subject: Subject) -> str:
        if self.source == FILE and not self.file:
            return NO_FILE
        if self.source == TYPED and not self.typed.strip():
            return NOTHING_TYPED
        try:
            if len(items := self.items_of(subject.model)) <= LOOKED_AT:
                read_items_as(self.asked(subject), items)
        except ExplorerError as error:
            return str(error)
        return ""

    def on_file(self, subject: Subject, file: Any) -> Change:
        """A file was read. Raises InputError when none was."""
        if file is None:
            raise InputError(NO_FILE)
        return Change(settings={"source": FILE}, content={"file": props(label=f"{CHOOSE} ({of_items(len(file))})")})
