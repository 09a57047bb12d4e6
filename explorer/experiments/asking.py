"""A new experiment: items × a question × how it is asked, and what it measured."""

from collections.abc import Generator, Hashable, Sequence
from typing import ClassVar

from explorer.core import downloads
from explorer.core.errors import ExplorerError, InputError
from explorer.experiments.compute.checkpoints import MOST_CHECKPOINTS, with_others
from explorer.experiments.compute.experiment import MOST_SEED, Experiment, experiment_in_steps
from explorer.experiments.compute.file import shipped, written
from explorer.experiments.compute.suites import TITLES
from explorer.experiments.listing import LISTED, unasked
from explorer.experiments.methods import methods
from explorer.experiments.naming import kept_place, of_heads, place_in
from explorer.experiments.questions import TELLINGS, TESTS
from explorer.experiments.showing import describing, find, show_run
from explorer.experiments.source import NO_FILE, NOTHING_TYPED, WAYS, ItemsView
from explorer.text import limits
from explorer.ui.layout import LayoutRow, col, row
from explorer.ui.settings import memory, number, text
from explorer.ui.subject import Subject
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    NewInput,
    button,
    chart,
    part,
    props,
    prose,
    read,
    select,
    sentence,
    settle,
    show,
)

PIECES = 1.3  # tokens of a word
NOTHING_YET = "No run to save yet. Ask the question of your items first."
PREVIEW = "{:,} items, of which the first {:,} are listed; nothing is asked of them yet."


SETTINGS = row("source", "asks", *(name for name, *_ in WAYS.values()), "into", "target")
RUN = ("save", "download")
RESULTS = row(col("problem", "board", "about", "hint", *RUN, "help"), col("chosen", "interval", "beside", "each"))


class NewExperiment(ItemsView):
    """One question asked of all items: what it measures at every place, and what one half of the groups says of the other."""

    name, question = "experiments/new", "What decides between two words, in many sentences?"
    layout: ClassVar[Sequence[LayoutRow]] = (SETTINGS, row("pairs", "longest", "mark"), RESULTS)
    start = "Measure every item"
    problem = sentence(optional=True)
    board = chart("The mean of every place", height=330, hides_empty=True)
    about = sentence(classes="caption")
    hint = prose(value="Click a place to see it in each item, and an item to open it in the page.", classes="caption")
    save = button("Save this run as a file", visible=False)
    download = button("Download", optional=True, wide=True)
    describe = button("Methods text for a paper", visible=False, more=True)
    methods = part("code", lines=14, visible=False, more=True)
    chosen = sentence(keep_height=True)
    interval = chart("The selected place on the other half, beside what it is judged by", height=150, hides_empty=True)
    beside = chart("What else was measured, beside the means", height=230, hides_empty=True)
    each = part("strips", height=300)
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
    place: tuple[int, ...] = memory((), kept=kept_place)

    @property
    def help_text(self) -> str:
        """How the chosen question is measured, and how it is tested."""
        return TELLINGS[self.asks].help + TESTS

    def first(self, subject: Subject) -> Subject:
        """The selected head, unless one was picked."""
        if subject.chosen.picked or not isinstance(found := self.known(subject), Experiment) or not of_heads(found):
            return subject
        layer, head = found.summary.selected
        return subject.select(layer=layer + 1, head=head + 1, picked=False)

    def passes(self, subject: Subject) -> float:
        """In forward passes of the page's input."""
        if self.refusal(subject) or (self._shipped(subject) and not self._others):
            return 0
        tokens = sum(PIECES * len(f"{item.text_a} {item.text_b}".split()) + 2 for item in self.items_of(subject.model))
        return tokens / subject.trace.kept * self.asked(subject).passes * (1 + len(self._others))

    def key(self, subject: Subject) -> Hashable:
        items = () if self.refusal(subject) else self.items_of(subject.model)
        groups = tuple(item.group for item in items)
        return (
            self.name,
            subject.model.checkpoint,
            items,
            groups,
            self.asks,
            self.chosen_way,
            self.chosen_target,
            self.seed,
            self.others,
        )

    def known(self, subject: Subject) -> Experiment | str | None:
        return self.refusal(subject) or super().known(subject)

    def work(self, subject: Subject) -> Generator[float, None, Experiment | str]:
        """Ask every item; returns the problem with the items, if there is one."""
        if problem := self.refusal(subject):
            return problem
        given = self.items_of(subject.model), self.asks, self.chosen_way, self.seed, self.chosen_target
        try:
            found = self._shipped(subject) or (yield from experiment_in_steps(subject.model, *given))
            others = []
            for name in self._others:
                others.append((yield from experiment_in_steps(subject.read_by(name).model, *given)))
            return with_others(found, others)
        except ExplorerError as error:  # too few items turned out to be of use, or another checkpoint does not fit
            return str(error)

    @property
    def _others(self) -> list[str]:
        """The names of other checkpoints."""
        return list(dict.fromkeys(filter(None, map(str.strip, self.others.splitlines()))))[: MOST_CHECKPOINTS - 1]

    def waiting(self, subject: Subject) -> Content:
        pictures: Content = {"board": None, "interval": None, "beside": None}
        nothing: Content = {**pictures, "help": self.help_text, "save": props(visible=False), **describing(False)}
        if problem := self.refusal(subject):
            return {**nothing, **_refused(problem), "chosen": "", "about": "", "each": None}
        items = self.items_of(subject.model)
        about = PREVIEW.format(len(items), min(len(items), LISTED))
        return {**nothing, "hint": props(visible=True), "chosen": "", "about": about, "each": unasked(items)}

    def draw(self, subject: Subject, found: Experiment | str) -> Content:
        if isinstance(found, str):
            return self.waiting(subject) | _refused(found)
        shown = show_run(found, self._at(subject, found))
        return {**shown, "help": self.help_text, "hint": props(visible=True), "save": props(visible=True), **describing(True)}

    def finding(self, subject: Subject) -> Finding | None:
        """The selected place on the items that it was not selected on."""
        return find(found) if isinstance(found := self.known(subject), Experiment) else None

    def _at(self, subject: Subject, found: Experiment) -> tuple[int, ...]:
        if of_heads(found):
            chosen = subject.selection
            return (chosen.attention_layer, chosen.head_index) if chosen.picked else found.summary.selected
        return place_in(found, self.place)

    def _shipped(self, subject: Subject) -> Experiment | None:
        """What comes with the app for its own suites."""
        if self.source not in TITLES:
            return None
        return shipped(subject.model, self.source, self.asks, self.chosen_way, self.seed, self.chosen_target)

    def on_save(self, subject: Subject, _: None) -> Change:
        """Write the run into a file, and offer it for download. Raises InputError without a run."""
        if not isinstance(found := self.known(subject), Experiment):
            raise InputError(NOTHING_YET)
        run, name = written(found), self._file_name
        label = f"Download {name} ({len(run.encode()) / 1e6:.1f} MB)"
        return show(download=props(value=label, link=f"download/{downloads.offer_text(name, run)}", visible=True))

    @property
    def _file_name(self) -> str:
        return f"{self.asks}-{self.source}.json"

    def on_describe(self, subject: Subject, _: None) -> Change:
        """The methods section for a paper. Raises InputError without a run."""
        if not isinstance(found := self.known(subject), Experiment):
            raise InputError(NOTHING_YET)
        return show(methods=props(value=methods(found, self._file_name), visible=True))

    def on_board(self, subject: Subject, index: object) -> Change:
        """Another place: [row, column], or the number of a row, zero-based."""
        found = self.known(subject)
        if isinstance(found, Experiment) and not of_heads(found):
            return settle(place=kept_place(index if isinstance(index, list | tuple) else [index]))
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)

    def on_each(self, subject: Subject, index: object) -> NewInput:
        """An item becomes the page's input."""
        found = self.known(subject)
        items = found.items if isinstance(found, Experiment) else self.items_of(subject.model)
        item = items[limits.check_integer(index, "the item", 0, len(items) - 1)]
        return read(item.text_a, item.text_b)


def _refused(why: str) -> Content:
    """Why the items cannot be asked, below them, without the hint to click; a missing part is not an error."""
    return {"problem": why if why in (NO_FILE, NOTHING_TYPED) else {"text": why, "kind": "error"}, "hint": props(visible=False)}
