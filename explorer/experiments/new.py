"""A new experiment: items × a question × how it is asked, and what it measured."""

from collections.abc import Generator, Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from explorer.bert.explorer import Explorer
from explorer.core import downloads
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.experiments.compute.experiment import (
    MOST_SEED,
    QUESTIONS,
    Experiment,
    experiment_in_steps,
    question_of,
    read_items_as,
)
from explorer.experiments.compute.items import EMPTY, EXAMPLE, Item, items_from_lines, read_items
from explorer.experiments.compute.minimal_pairs import TITLES, suite_items
from explorer.experiments.compute.question import Question
from explorer.experiments.compute.runs import MOST_CHECKPOINTS, find_shipped, over_checkpoints_in_steps, run_to_json
from explorer.experiments.compute.targets import LABEL, NEXT_SENTENCE, WORD
from explorer.experiments.sentences import TESTS, find, of_heads, of_items
from explorer.experiments.showing import LISTED, RunView, open_item, passes_for, place_in, preview_items, show_nothing, show_run
from explorer.text import limits
from explorer.ui.layout import LayoutRow, col, row
from explorer.ui.long_view import LongView
from explorer.ui.settings import choice, number, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, NewInput, button, props, prose, select, sentence, show

TYPED, FILE = "typed", "file"
OTHERS = (("typed here", TYPED), ("your own file", FILE))
CHOOSE = "CSV with text, word, foil…"
NO_FILE = "Choose a file with the columns text, word and foil, and perhaps text_b and group."
NOTHING_YET = "No run to save yet. Ask the question of your items first."
PREVIEW = "{:,} items, of which the first {:,} are listed; nothing is asked of them yet."
HEAD_OF = {WORD: "fill_mask", NEXT_SENTENCE: "next_sentence", LABEL: "own_head"}
LOOKED_AT = 200  # items, before they are asked
WAYS = {way: label for one in QUESTIONS.values() for way, label in one.ways.items()}
_refusals: OnceCache[Hashable, str] = OnceCache(16)


class NewExperiment(RunView, LongView):
    """One question asked of all items: what it measures at every place, and what one half of the groups says of the other."""

    name, question = "experiments/new", "What decides between two words?"
    layout: ClassVar[Sequence[LayoutRow]] = (
        row("source", "asks", "how", "target"),
        row(col("problem", "board", "about", "hint", "save", "download", "help"), col("chosen", "interval", "beside", "each")),
    )
    start, nothing = "Measure every item", NOTHING_YET
    source: str = choice(
        [*((title, name) for name, (title, _) in TITLES.items()), *OTHERS], "Items", menu=True, elem_classes="inline"
    )
    file: tuple[Item, ...] | None = upload(label=CHOOSE, read=read_items, as_button=True, when=lambda view: view.source == FILE)
    typed: str = text(
        EXAMPLE,
        "Items: sentence | word | foil",
        heard="submit blur",
        limit=BOX_CHARACTERS,
        lines=5,
        max_lines=10,
        info="One item per line; the sentence has a [MASK]. A line # name begins a group of items. A name in braces is a slot, "
        "and a line below fills it: thing = key, cup.",
        when=lambda view: view.source == TYPED,
    )
    asks: str = choice(
        [(one.menu, name) for name, one in QUESTIONS.items()], "Measure", menu=True, scale=5, elem_classes="inline"
    )
    how: str = choice([(label, way) for way, label in WAYS.items()], "How", menu=True, scale=3, elem_classes="inline")
    target: str = choice(
        [("word and foil", WORD), ("the next sentence", NEXT_SENTENCE), ("labels of a fine-tuned head", LABEL)],
        "Judged by",
        menu=True,
        when=lambda view: len(QUESTIONS[view.asks].targets) > 1,
        elem_classes="inline",
    )
    problem = sentence(optional=True)
    save = button("Save this run as a file", visible=False)
    download = button("Download", optional=True, wide=True)
    help = prose(classes="caption how")
    others: str = text(
        "",
        "Other checkpoints, one per line",
        heard="submit blur",
        lines=2,
        max_lines=6,
        placeholder="a folder or a name, such as another seed",
        more=True,
    )
    seed: int = number(0, "Random seed", low=0, high=MOST_SEED, box=True, more=True)

    @property
    def chosen_way(self) -> str:
        """How the question is asked: the first way where that of another question is chosen."""
        ways = QUESTIONS[self.asks].ways
        return self.how if self.how in ways else next(iter(ways))

    @property
    def chosen_target(self) -> str:
        return self.target if self.target in QUESTIONS[self.asks].targets else WORD

    @property
    def _others(self) -> list[str]:
        return list(dict.fromkeys(filter(None, map(str.strip, self.others.splitlines()))))[: MOST_CHECKPOINTS - 1]

    @property
    def items(self) -> tuple[Item, ...]:
        """Raises InputError where there are none, or a line is not an item."""
        if self.source == TYPED:
            return items_from_lines(self.typed)
        if self.source == FILE:
            return self.file or ()
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
        given = self.source, self.typed, self.file
        key = subject.model.checkpoint, *given, self.asks, self.chosen_way, self.chosen_target
        return _refusals.get(key, lambda: self._refusal(subject))

    def _refusal(self, subject: Subject) -> str:
        if self.source == FILE and not self.file:
            return NO_FILE
        if self.source == TYPED and not self.typed.strip():
            return EMPTY
        try:
            if len(items := self.items) <= LOOKED_AT:
                read_items_as(self.asked(subject), items)
        except ExplorerError as error:
            return str(error)
        return ""

    def first(self, subject: Subject) -> Subject:
        if subject.chosen.picked or not (found := self.found(subject)) or not of_heads(found):
            return subject
        layer, head = found.summary.selected
        return subject.select(layer=layer + 1, head=head + 1, picked=False)

    def passes(self, subject: Subject) -> float:
        """In forward passes of the page's input."""
        if self.refusal(subject) or (self._shipped(subject) and not self._others):
            return 0
        return passes_for(self.asked(subject), self.items, subject) * (1 + len(self._others))

    def key(self, subject: Subject) -> Hashable:
        items = () if self.refusal(subject) else self.items
        asked = self.asks, self.chosen_way, self.chosen_target, self.seed, self.others
        return self.name, subject.model.checkpoint, items, tuple(item.group for item in items), *asked

    def known(self, subject: Subject) -> Experiment | str | None:
        return self.refusal(subject) or super().known(subject)

    def work(self, subject: Subject) -> Generator[float, None, Experiment | str]:
        """Ask every item; returns the problem with the items, if there is one."""
        if problem := self.refusal(subject):
            return problem
        given = self.items, self.asks, self.chosen_way, self.seed, self.chosen_target
        try:
            if not self._others:
                return self._shipped(subject) or (yield from experiment_in_steps(subject.model, *given))
            models: list[str | Explorer] = [subject.model, *self._others]
            found, *others = (
                yield from over_checkpoints_in_steps(models, *given, read=lambda name: subject.read_by(name).model)
            ).runs
            return replace(found, others=tuple(others))
        except ExplorerError as error:  # too few items turned out to be of use, or another checkpoint does not fit
            return str(error)

    def _shipped(self, subject: Subject) -> Experiment | None:
        return find_shipped(subject.model, self.source, self.asks, self.chosen_way, self.seed, self.chosen_target)

    def waiting(self, subject: Subject) -> Content:
        nothing = show_nothing() | self._about(has_run=False)
        if problem := self.refusal(subject):
            return nothing | _refused(problem)
        items = self.items
        about = PREVIEW.format(len(items), min(len(items), LISTED))
        return nothing | {"hint": props(visible=True), "about": about, "each": preview_items(items)}

    def draw(self, subject: Subject, found: Experiment | str) -> Content:
        if isinstance(found, str):
            return self.waiting(subject) | _refused(found)
        at = place_in(found, self.place)
        if of_heads(found):
            picked = subject.selection
            at = (picked.attention_layer, picked.head_index) if picked.picked else found.summary.selected
        return show_run(found, at) | self._about(has_run=True)

    def _about(self, has_run: bool) -> Content:
        """The ways of the question, how it is measured, and whether there is a run to save."""
        asked = QUESTIONS[self.asks]
        how = props(label=asked.how, choices=[(label, way) for way, label in asked.ways.items()], value=self.chosen_way)
        return {"how": how, "help": asked.help + TESTS, "save": props(visible=has_run)}

    def found(self, subject: Subject) -> Experiment | None:
        return found if isinstance(found := self.known(subject), Experiment) else None

    def finding(self, subject: Subject) -> Finding | None:
        """The selected place on the items that it was not selected on."""
        return find(found) if (found := self.found(subject)) else None

    @property
    def file_name(self) -> str:
        return f"{self.asks}-{self.source}.json"

    def on_file(self, subject: Subject, file: Any) -> Change:
        """A file was read. Raises InputError when none was."""
        if file is None:
            raise InputError(NO_FILE)
        return Change(settings={"source": FILE}, content={"file": props(label=f"{CHOOSE} ({of_items(len(file))})")})

    def on_save(self, subject: Subject, _: None) -> Change:
        """Write the run into a file, and offer it for download. Raises InputError without a run."""
        run, name = run_to_json(self.run_of(subject)), self.file_name
        label = f"Download {name} ({len(run.encode()) / 1e6:.1f} MB)"
        return show(download=props(value=label, link=f"download/{downloads.offer_text(name, run)}", visible=True))

    def on_board(self, subject: Subject, index: object) -> Change:
        """Another place, which for heads is chosen in the whole page."""
        if (found := self.found(subject)) and not of_heads(found):
            return super().on_board(subject, index)
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_each(self, subject: Subject, index: object) -> NewInput:
        return open_item(subject, found.items if (found := self.found(subject)) else self.items, index)


def _refused(why: str) -> Content:
    """Why the items cannot be asked, below them, without the hint to click; a missing part is not an error."""
    return {"problem": why if why in (NO_FILE, EMPTY) else {"text": why, "kind": "error"}, "hint": props(visible=False)}
