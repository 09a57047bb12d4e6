"""The settings of a training, for each kind of task."""

from dataclasses import replace
from typing import Any, ClassVar

from explorer.bert.explorer import Explorer
from explorer.finetune.compute.answering import Answerer
from explorer.finetune.compute.predictor import Classifier, Predictor, Tagger
from explorer.finetune.compute.prefix import EVERY_TOKEN
from explorer.finetune.compute.task import TrainingPlan, make_plan
from explorer.ui.settings import choice, number, pooling, switch, use
from explorer.ui.subject import Subject
from explorer.ui.view import Change, View, settle

OWN = "as set below"
LAYERS = "Layers trained with the head, from the top (0: BERT stays as it is)"
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
PIECES = (("its first piece", "first"), ("the mean of its pieces", "mean"))
HEAD_NUMBERS, LAYERS_NUMBERS = (20, 0.01, 32), (4, 2e-4, 8)  # of a tagger: epochs, rate and batch, for the head or small layers
ANSWER_HEAD, ANSWER_LAYERS = (10, 0.01, 32), (4, 2e-4, 16)  # the same for answers
RATES = (0.1, 0.03, 0.01, 0.003, 0.001, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5)
SHARES = (("a fiftieth", 0.02), ("a tenth", 0.1), ("a fifth", 0.2), ("a third", 1 / 3), ("half", 0.5))
SIDE_BY_SIDE = ("means of four states up to it, side by side", "last4")
UNITS = 64
LINEAR, HIDDEN = "linear", f"one hidden layer ({UNITS} units)"
# Past the queue: a late answer would undo changes typed in the meantime.
AT_ONCE = {"queue": False}
HIDDEN_STATES = {"low": 0, "high": lambda model: model.layers}


def preset_for(hidden_size: int, layers: int) -> str:
    """The name of the preset for so many trained layers in a model of this width."""
    if not layers:
        return FIT_PRESET
    return BASE_PRESET if hidden_size >= WIDE else SMALL_PRESET


def _rate(default: float, **look: Any) -> Any:
    rates = [(f"{rate:g}", rate) for rate in RATES]
    return choice(rates, "Learning rate", default=default, menu=True, more=True, min_width=100, **look, **AT_ONCE)


def _batch(sizes: tuple[int, ...], default: int, label: str = "Batch", **look: Any) -> Any:
    return choice(sizes, label, default=default, menu=True, more=True, min_width=70, **look, **AT_ONCE)


def _epochs(default: int, label: str = "Epochs", low: int = 1, **look: Any) -> Any:
    return number(default, label, low=low, high=50, more=True, line=True, min_width=140, **look, **AT_ONCE)


def _held_out() -> Any:
    return choice(SHARES, "Held out", default=0.2, menu=True, more=True, min_width=80)


def _seed() -> Any:
    return number(0, "Seed", low=0, high=2**31 - 1, box=True, more=True, min_width=70)


class TrainingRecipe(View):
    """A base for the settings of a training. Those that all tasks have begin with `own`: each has controls of its own."""

    own: ClassVar[str] = ""
    predictor: ClassVar[type[Predictor]]
    question = "What is trained, and how?"
    width, fold = 6, "Settings"

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan, checked. Raises InputError."""
        epochs, rate, batch, seed, held_out = (
            getattr(self, f"{self.own}{name}") for name in ("epochs", "rate", "batch", "seed", "held_out")
        )
        numbers = {"epochs": epochs, "learning_rate": rate, "batch_size": batch, "seed": seed, "held_out": held_out}
        return make_plan(model, predictor=self.predictor, **numbers, **self.more_of_plan())

    def numbers_for(self, layers: int, head: tuple[float, ...], trained: tuple[float, ...]) -> dict[str, float]:
        """The epochs, rate and batch that suit the head alone or trained layers, if now those of the other are set."""
        before, after = (head, trained) if layers else (trained, head)
        names = [f"{self.own}{name}" for name in ("epochs", "rate", "batch")]
        untouched = tuple(getattr(self, name) for name in names) == before
        return dict(zip(names, after, strict=True)) if untouched else {}

    def more_of_plan(self) -> dict[str, Any]:
        """Other arguments of `make_plan`: the layer, the pooling and what only this kind of task has."""
        return {}


class Recipe(TrainingRecipe):
    """The settings of a training on texts or pairs, most of them set by a preset."""

    name, width, predictor = "fine-tune/recipe", 4, Classifier
    layers: int = number(0, LAYERS, **HIDDEN_STATES, **AT_ONCE, more=True)
    preset: str = choice((*PRESETS, OWN), "Settings", menu=True, more=True, **AT_ONCE)
    epochs: int = _epochs(0, "Epochs (0: as many as the examples ask for)", low=0)
    rate: float = _rate(0.01)
    batch: int = _batch((8, 16, 32, 64, 128), 32)
    layer: int = number(6, "The head reads hidden state (0: embeddings)", **HIDDEN_STATES, more=True, line=True, min_width=140)
    pooling: str = pooling(SIDE_BY_SIDE, more=True, min_width=140)
    head: str = choice((LINEAR, HIDDEN), "Head", more=True, line=True)
    averaged: int = choice(
        [("one training", 1), ("the mean of 3", 3), ("the mean of 5", 5)],
        "Weights",
        menu=True,
        more=True,
        min_width=100,
        when=lambda view: view.layers > 0 and view.head == LINEAR,
    )
    held_out: float = _held_out()
    seed: int = _seed()
    balanced: bool = switch(False, "Rare classes weigh more", more=True)

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan. A link or a program may name no more than the preset. Raises InputError."""
        chosen = {} if self.preset in (FIT_PRESET, OWN) else self._named(self.preset, model.capabilities.layers)
        if (self.epochs, self.rate, self.batch) != PRESETS[FIT_PRESET]:
            chosen = {name: value for name, value in chosen.items() if name not in ("epochs", "rate", "batch")}
        return super(Recipe, replace(self, **chosen)).plan(model)

    def _named(self, preset: str, most: int) -> dict[str, Any]:
        """The settings of a preset: one for layers trains all of them, unless some are chosen."""
        epochs, rate, batch = PRESETS[preset]
        layers: dict[str, Any] = {}
        if preset in OF_HEADS and self.layers:
            layers = {"layers": 0, "pooling": "mean"}
        elif preset not in OF_HEADS and not self.layers:
            layers = {"layers": most, "layer": most, "pooling": "cls"}
        return {"epochs": epochs, "rate": rate, "batch": batch, **layers}

    def more_of_plan(self) -> dict[str, Any]:
        """The layer, the pooling, and how the head is trained."""
        return {
            "layer": self.layer,
            "pooling": self.pooling,
            "layers_trained": self.layers,
            "keep_best": True,
            "units": UNITS if self.head == HIDDEN else 0,
            "balanced": self.balanced,
            "averaged": self.averaged if self.layers and self.head == LINEAR else 1,
        }

    def on_preset(self, subject: Subject, name: str) -> Change:
        named = {} if name == OWN else self._named(name, subject.model.capabilities.layers)
        return settle(preset=name, **named)

    def on_layers(self, subject: Subject, layers: int) -> Change:
        """Choose the preset for so many layers, unless the person has changed the numbers."""
        if bool(layers) == (self.preset not in OF_HEADS) or self.preset == OWN:
            return settle()
        preset = preset_for(subject.model.capabilities.hidden_size, layers)
        numbers = replace(self, layers=layers).on_preset(subject, preset).settings
        return settle(**numbers, pooling="cls" if layers else "mean")

    def on_epochs(self, subject: Subject, _: float) -> Change:
        """A number was changed by the person."""
        return settle(preset=OWN)

    on_rate = on_batch = on_epochs


def of_recipe(name: str) -> Any:
    """A setting of the recipe, for another view that reads it; its control is in the recipe."""
    return use(replace(Recipe.settings[name], when=None), getattr(Recipe(), name), here=False)


class WordRecipe(TrainingRecipe):
    """The settings of training a tagger."""

    name, own, predictor = "fine-tune/words-recipe", "tag_", Tagger
    tag_layers: int = number(0, "Layers trained with the head (0: BERT stays as it is)", **HIDDEN_STATES, **AT_ONCE)
    tag_layer: int = number(4, "The head reads hidden state (0: embeddings)", **HIDDEN_STATES, more=True, line=True, **AT_ONCE)
    tag_pieces: str = choice(PIECES, "Of each word it reads", more=True, line=True)
    tag_epochs: int = _epochs(HEAD_NUMBERS[0])
    tag_rate: float = _rate(HEAD_NUMBERS[1], line=True)
    tag_batch: int = _batch((8, 16, 32, 64, 128), HEAD_NUMBERS[2], "Batch (words, or sentences with layers)")
    tag_held_out: float = _held_out()
    tag_seed: int = _seed()

    def more_of_plan(self) -> dict[str, Any]:
        """The layer, and how a word's pieces become one vector."""
        return {"layer": self.tag_layer, "pooling": self.tag_pieces, "layers_trained": self.tag_layers}

    def on_tag_layers(self, subject: Subject, layers: int) -> Change:
        """Set the numbers for so many layers, unless the person changed them; the head then reads at least that hidden state."""
        at_least = {"tag_layer": max(self.tag_layer, layers)}
        return settle(**at_least, **self.numbers_for(layers, HEAD_NUMBERS, LAYERS_NUMBERS))


class AnswerRecipe(TrainingRecipe):
    """The settings of training for question answering; the defaults suit the bundled model."""

    name, own, predictor = "fine-tune/answer-recipe", "answer_", Answerer
    answer_layers: int = number(6, LAYERS, **HIDDEN_STATES, **AT_ONCE)
    answer_epochs: int = _epochs(ANSWER_LAYERS[0])
    answer_rate: float = _rate(ANSWER_LAYERS[1])
    answer_batch: int = _batch((8, 16, 32), ANSWER_LAYERS[2])
    answer_held_out: float = _held_out()
    answer_seed: int = _seed()
    answer_best: bool = switch(False, "Keep the epoch that is best on the held-out questions, not the last", more=True, line=True)

    def more_of_plan(self) -> dict[str, Any]:
        """All tokens of the last layer, and the epoch that is kept."""
        last = {"layer": -1, "pooling": EVERY_TOKEN}
        return {**last, "layers_trained": self.answer_layers, "keep_best": self.answer_best}

    def on_answer_layers(self, subject: Subject, layers: int) -> Change:
        """Set the numbers for so many layers, unless the person changed them."""
        return settle(**self.numbers_for(layers, ANSWER_HEAD, ANSWER_LAYERS))
