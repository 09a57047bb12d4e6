"""The kinds of task, some of which have well-known names, and the settings of a training, mostly set by a preset."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.bert.explorer import Explorer
from explorer.finetune.cards import TASKS, KnownTask
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.predictor import Predictor, TrainingPlan
from explorer.finetune.compute.task import make_plan
from explorer.finetune.compute.texts import Classifier, Regressor
from explorer.finetune.compute.words import Tagger
from explorer.ui.layout import col, row
from explorer.ui.settings import choice, number, pooling
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, View, props, sentence, settle

TEXTS, WORDS, ANSWERS = "texts", "words", "answers"
TYPED, READY, FILE, HUB = "Typed here", "Built in", "A file", "From the hub"
MIDDLE = 2 / 3  # where grammar and pairs are best read on the bundled model, and syntax in Jawahar et al. 2019


@dataclass(frozen=True)
class Kind:
    """A kind of task. The settings of a training are the same for all; each kind has its own defaults."""

    label: str
    heads: tuple[type[Predictor], ...]  # the first one when nothing is known of the examples
    sets: Mapping[str, str]  # titles of the built-in sets, by name
    opening: str  # the set to begin with
    sources: tuple[str, ...]
    pooling: tuple[str, str]  # for a head alone, and for a head on trained layers
    epochs: int = 0  # for a head alone, by default; 0: as many as the examples ask for
    depth: float = 1.0  # of the hidden state for a head alone, as a share of the layers
    trains_layers: bool = False  # by default, since a head alone learns next to nothing
    keeps_best: bool = False  # the epoch that scores best on the held-out examples, otherwise the last

    @property
    def poolings(self) -> tuple[str, ...]:
        return self.heads[0].poolings

    def has(self, run: str) -> bool:
        """Whether runs of this kind, as files name it, belong here."""
        return run in [head.kind for head in self.heads]


KINDS = {
    TEXTS: Kind(
        "A text or a pair",
        (Classifier, Regressor),
        {
            "sentiment": "Sentiment: positive, negative, neutral",
            "spam": "Spam or not",
            "questions": "Questions: what kind of answer?",
            "same_meaning": "Pairs: do both mean the same?",
            "entailment": "Entailment: does the second text follow from the first?",
            "grammar": "Grammar: is the sentence grammatical?",
            "similarity": "Similarity: how similar are both, from 0 to 5?",
        },
        "sentiment",
        (TYPED, READY, FILE, HUB),
        pooling=("mean", "cls"),
        keeps_best=True,
    ),
    WORDS: Kind(
        "Every word",
        (Tagger,),
        {"parts_of_speech": "Parts of speech", "names": "Names: persons, places, organisations, times"},
        "names",
        (READY, TYPED, FILE),
        pooling=("first", "first"),
        epochs=20,
        depth=MIDDLE,
    ),
    ANSWERS: Kind(
        "An answer in a text",
        (Answerer,),
        {"answers": "Answers: questions on short texts"},
        "answers",
        (READY, FILE),
        pooling=("cls", "cls"),  # as it is: every token is read
        trains_layers=True,
    ),
}


def of_kind(here: bool = False) -> Any:
    """Declare the setting that chooses the kind; one view has its control."""
    return choice([(kind.label, name) for name, kind in KINDS.items()], "Kind of task", here=here, container=False)


def sets() -> list[tuple[str, str]]:
    return [(title, name) for kind in KINDS.values() for name, title in kind.sets.items()]


OWN = "as set below"
HINT = "A known task …"
PRESETS = {
    "Head only: as many steps as the examples ask for": (0, 0.01, 32),
    "Head only: batch 32, 1e-2, 10 epochs": (10, 0.01, 32),
    "BERT paper: batch 16, 5e-5, 3 epochs": (3, 5e-5, 16),
    "BERT paper: batch 32, 3e-5, 4 epochs": (4, 3e-5, 32),
    "BERT paper: batch 32, 2e-5, 4 epochs": (4, 2e-5, 32),
    "Small model: batch 16, 2e-4, 4 epochs": (4, 2e-4, 16),
}
FIT_PRESET, HEAD_PRESET, _, _, _, SMALL_PRESET = PRESETS
OF_HEADS = (FIT_PRESET, HEAD_PRESET)  # the presets that train no layers
BASE_PRESET = "BERT paper: batch 32, 3e-5, 4 epochs"
WIDE = 512  # hidden size from which a model trains at the paper's rates
RATES = (0.1, 0.03, 0.01, 0.003, 0.001, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5)
SHARES = (("a fiftieth", 0.02), ("a tenth", 0.1), ("a fifth", 0.2), ("a third", 1 / 3), ("half", 0.5))
SIDE_BY_SIDE = ("means of four states up to it, side by side", "last4")
POOLINGS = {
    TEXTS: [("mean of all tokens", "mean"), ("[CLS]", "cls"), ("pooler (last layer)", "pooler"), SIDE_BY_SIDE],
    WORDS: [("the first piece of a word", "first"), ("the mean of a word's pieces", "mean")],
}
HIDDEN_STATES = {"low": 0, "high": lambda model: model.layers}


def preset_for(hidden_size: int, layers: int) -> str:
    if not layers:
        return FIT_PRESET
    return BASE_PRESET if hidden_size >= WIDE else SMALL_PRESET


class Recipe(View):
    """The settings of a training. What the page does not set, endpoints do."""

    name, question = "fine-tune/recipe", "What is trained, and how?"
    width, fold = 4, "Settings"
    kind: str = of_kind()
    layers: int = number(0, "Layers trained (0: head only)", **HIDDEN_STATES, more=True)
    preset: str = choice((*PRESETS, OWN), "Preset", menu=True, more=True)
    epochs: int = number(0, "Epochs (0: fitted to the examples)", low=0, high=50, more=True, line=True, min_width=140)
    rate: float = choice(
        [(f"{rate:g}", rate) for rate in RATES], "Learning rate", default=0.01, menu=True, more=True, min_width=100
    )
    batch: int = choice((8, 16, 32, 64, 128), "Batch", default=32, menu=True, more=True, min_width=70)
    layer: int = number(6, "Hidden state that the head reads", **HIDDEN_STATES, more=True, line=True, min_width=140)
    pooling: str = pooling(SIDE_BY_SIDE, POOLINGS[WORDS][0], more=True, min_width=140, when=lambda view: view.kind != ANSWERS)
    held_out: float = choice(SHARES, "Held out", default=0.2, menu=True, more=True, min_width=80)
    seed: int = number(0, "Seed", low=0, high=2**31 - 1, box=True, more=True, min_width=70)

    def compute(self, subject: Subject) -> Content:
        """The ways to read a vector, which depend on the kind."""
        options = POOLINGS.get(self.kind)
        return {"pooling": props(choices=options, value=self._pooling)} if options else {}

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan. A link or a program may name no more than the preset. Raises InputError."""
        chosen = {} if self.preset in (FIT_PRESET, OWN) else self._named(self.preset, model.capabilities.layers)
        if (self.epochs, self.rate, self.batch) != PRESETS[FIT_PRESET]:
            chosen = {name: value for name, value in chosen.items() if name not in ("epochs", "rate", "batch")}
        kind, view = KINDS[self.kind], replace(self, **chosen)
        return make_plan(
            model,
            view.layer,
            view._pooling,
            view.layers,
            kind.keeps_best,
            kind.heads[0],
            epochs=view.epochs,
            learning_rate=view.rate,
            batch_size=view.batch,
            seed=view.seed,
            held_out=view.held_out,
        )

    @property
    def _pooling(self) -> str:
        """The pooling, or the first one of the kind where it has no such one."""
        known = KINDS[self.kind].poolings
        return self.pooling if self.pooling in known else known[0]

    def _named(self, preset: str, most: int) -> dict[str, Any]:
        """The settings of a preset: one for layers trains all of them, unless some are chosen."""
        alone, trained = KINDS[self.kind].pooling
        epochs, rate, batch = PRESETS[preset]
        layers: dict[str, Any] = {}
        if preset in OF_HEADS and self.layers:
            layers = {"layers": 0, "pooling": alone}
        elif preset not in OF_HEADS and not self.layers:
            layers = {"layers": most, "layer": most, "pooling": trained}
        return {"epochs": epochs, "rate": rate, "batch": batch, **layers}

    def on_preset(self, subject: Subject, name: str) -> Change:
        named = {} if name == OWN else self._named(name, subject.model.capabilities.layers)
        return settle(preset=name, **named)

    def on_layers(self, subject: Subject, layers: int) -> Change:
        """Choose the preset for this number of layers, unless the person has changed the numbers."""
        reads = {"layer": max(self.layer, layers)}
        if bool(layers) == (self.preset not in OF_HEADS) or self.preset == OWN:
            return settle(**reads)
        preset = preset_for(subject.model.capabilities.hidden_size, layers)
        numbers = replace(self, layers=layers).on_preset(subject, preset).settings
        return settle(**{**reads, **numbers, "pooling": KINDS[self.kind].pooling[bool(layers)]})

    def on_epochs(self, subject: Subject, _: float) -> Change:
        return settle(preset=OWN)

    on_rate = on_batch = on_epochs


def defaults(kind: str, model: Capabilities) -> dict[str, Any]:
    """The settings of the recipe with which a kind of task begins."""
    begun = KINDS[kind]
    layers = model.layers if begun.trains_layers else 0
    preset = preset_for(model.hidden_size, layers)
    epochs, rate, batch = PRESETS[preset]
    if begun.epochs and not layers:
        preset, epochs = OWN, begun.epochs
    layer = layers or round(begun.depth * model.layers)
    numbers = {"preset": preset, "epochs": epochs, "rate": rate, "batch": batch}
    return {**numbers, "layers": layers, "layer": layer, "pooling": begun.pooling[bool(layers)]}


def read_after(task: KnownTask, layers: int) -> int:
    """The hidden state that the head reads in a model with this number of layers; 0: as the kind has it."""
    return 0 if task.kind != TEXTS or task.ready == KINDS[TEXTS].opening else round(MIDDLE * layers)


class KnownTasks(View):
    name, question = "fine-tune/known-tasks", "Which kind of task do you have?"
    layout = (row(col("kind", width=6), col("task", "about", width=6)),)
    kind: str = of_kind(here=True)
    task: str = choice([(HINT, ""), *TASKS], "A task you know", menu=True, show_label=False)
    about = sentence(classes="caption")

    def compute(self, subject: Subject) -> Content:
        if not self.task:
            return {"about": ""}
        task = TASKS[self.task]
        head = f", and a head on hidden state {place}" if (place := read_after(task, subject.model.capabilities.layers)) else ""
        said = f"{task.called}: {task.given} → {task.wanted} ({task.source})."
        return {"about": f"{said} Chosen: {KINDS[task.kind].sets[task.ready].split(':')[0]}, in our own words{head}."}

    def on_kind(self, subject: Subject, kind: str) -> Change:
        return settle(task="", **begin(kind, subject))

    def on_task(self, subject: Subject, name: str) -> Change:
        if not name:
            return settle()
        task = TASKS[name]
        head = {"layer": place} if (place := read_after(task, subject.model.capabilities.layers)) else {}
        return settle(**{**begin(task.kind, subject), "source": READY, "ready": task.ready, **head})


def begin(kind: str, subject: Subject) -> dict[str, Any]:
    """The settings with which a kind of task begins."""
    first = KINDS[kind]
    examples = {"source": first.sources[0], "ready": first.opening, "file": None, "run": None}
    return {"kind": kind, **examples, **defaults(kind, subject.model.capabilities)}
