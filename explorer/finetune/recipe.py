"""The settings of a training, for each kind of task."""

from abc import abstractmethod
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
Numbers = tuple[int, float, int]  # epochs, rate and batch
HEAD_NUMBERS, LAYERS_NUMBERS = (20, 0.01, 32), (4, 2e-4, 8)  # of a tagger: for the head, or for small layers
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


def _epochs(default: int, label: str = "Epochs", low: int = 1, **look: Any) -> Any:
    return number(default, label, low=low, high=50, more=True, line=True, min_width=140, **look, **AT_ONCE)


class TrainingRecipe(View):
    """A base for the settings of a training. What the page does not set, endpoints do."""

    predictor: ClassVar[type[Predictor]]
    question = "What is trained, and how?"
    width, fold = 6, "Settings"

    @abstractmethod
    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan, checked. Raises InputError."""


class Recipe(TrainingRecipe):
    """The settings of a training on texts or pairs, most of them set by a preset."""

    name, width, predictor = "fine-tune/recipe", 4, Classifier
    layers: int = number(0, LAYERS, **HIDDEN_STATES, **AT_ONCE, more=True)
    preset: str = choice((*PRESETS, OWN), "Settings", menu=True, more=True, **AT_ONCE)
    epochs: int = _epochs(0, "Epochs (0: as many as the examples ask for)", low=0)
    rate: float = choice(
        [(f"{rate:g}", rate) for rate in RATES], "Learning rate", default=0.01, menu=True, more=True, min_width=100, **AT_ONCE
    )
    batch: int = choice((8, 16, 32, 64, 128), "Batch", default=32, menu=True, more=True, min_width=70, **AT_ONCE)
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
    held_out: float = choice(SHARES, "Held out", default=0.2, menu=True, more=True, min_width=80)
    seed: int = number(0, "Seed", low=0, high=2**31 - 1, box=True, more=True, min_width=70)
    balanced: bool = switch(False, "Rare classes weigh more", more=True)

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan. A link or a program may name no more than the preset. Raises InputError."""
        chosen = {} if self.preset in (FIT_PRESET, OWN) else self._named(self.preset, model.capabilities.layers)
        if (self.epochs, self.rate, self.batch) != PRESETS[FIT_PRESET]:
            chosen = {name: value for name, value in chosen.items() if name not in ("epochs", "rate", "batch")}
        return replace(self, **chosen)._plan(model)

    def _plan(self, model: Explorer) -> TrainingPlan:
        return make_plan(
            model,
            self.layer,
            self.pooling,
            self.layers,
            keep_best=True,
            epochs=self.epochs,
            learning_rate=self.rate,
            batch_size=self.batch,
            seed=self.seed,
            held_out=self.held_out,
            units=UNITS if self.head == HIDDEN else 0,
            balanced=self.balanced,
            averaged=self.averaged if self.layers and self.head == LINEAR else 1,
        )

    def _named(self, preset: str, most: int) -> dict[str, Any]:
        """The settings of a preset: one for layers trains all of them, unless some are chosen."""
        epochs, rate, batch = PRESETS[preset]
        layers: dict[str, Any] = {}
        if preset in OF_HEADS and self.layers:
            layers = {"layers": 0, "pooling": "mean"}
        elif preset not in OF_HEADS and not self.layers:
            layers = {"layers": most, "layer": most, "pooling": "cls"}
        return {"epochs": epochs, "rate": rate, "batch": batch, **layers}

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

    name, predictor = "fine-tune/words-recipe", Tagger
    tag_layers: int = number(0, "Layers trained with the head (0: BERT stays as it is)", **HIDDEN_STATES, **AT_ONCE)
    tag_layer: int = number(4, "The head reads hidden state (0: embeddings)", **HIDDEN_STATES, more=True, line=True, **AT_ONCE)
    tag_pieces: str = choice(PIECES, "Of each word it reads", more=True, line=True)
    tag_epochs: int = _epochs(HEAD_NUMBERS[0])

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan, at the rate and with the batches that suit the head alone or trained layers. Raises InputError."""
        _, rate, batch = LAYERS_NUMBERS if self.tag_layers else HEAD_NUMBERS
        numbers: dict[str, Any] = {"epochs": self.tag_epochs, "learning_rate": rate, "batch_size": batch}
        return make_plan(model, self.tag_layer, self.tag_pieces, self.tag_layers, predictor=Tagger, **numbers)

    def on_tag_layers(self, subject: Subject, layers: int) -> Change:
        """The epochs for so many layers, unless they were changed; the head then reads at least that hidden state."""
        epochs = _epochs_for(layers, self.tag_epochs, HEAD_NUMBERS, LAYERS_NUMBERS)
        return settle(tag_layer=max(self.tag_layer, layers), tag_epochs=epochs)


class AnswerRecipe(TrainingRecipe):
    """The settings of training for question answering; the defaults suit the bundled model."""

    name, predictor = "fine-tune/answer-recipe", Answerer
    answer_layers: int = number(6, LAYERS, **HIDDEN_STATES, **AT_ONCE)
    answer_epochs: int = _epochs(ANSWER_LAYERS[0])

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan: all tokens of the last layer are read, and the last epoch is kept. Raises InputError."""
        _, rate, batch = ANSWER_LAYERS if self.answer_layers else ANSWER_HEAD
        numbers: dict[str, Any] = {"epochs": self.answer_epochs, "learning_rate": rate, "batch_size": batch}
        return make_plan(model, -1, EVERY_TOKEN, self.answer_layers, predictor=Answerer, **numbers)

    def on_answer_layers(self, subject: Subject, layers: int) -> Change:
        """The epochs for so many layers, unless they were changed."""
        return settle(answer_epochs=_epochs_for(layers, self.answer_epochs, ANSWER_HEAD, ANSWER_LAYERS))


def _epochs_for(layers: int, epochs: int, head: Numbers, trained: Numbers) -> int:
    """The epochs that suit the head alone or trained layers, if now those of the other are set."""
    before, after = (head, trained) if layers else (trained, head)
    return after[0] if epochs == before[0] else epochs
