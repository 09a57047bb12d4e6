"""The settings of a training."""

from typing import ClassVar

from explorer.bert.explorer import Explorer
from explorer.finetune.compute.training import TrainingPlan, make_plan
from explorer.ui.settings import choice, number, pooling, switch
from explorer.ui.subject import Subject
from explorer.ui.view import Change, View, button, settle

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
BASE_PRESET = "BERT paper: batch 32, 3e-5, 4 epochs"
WIDE = 512  # hidden size from which a model trains at the paper's rates
RATES = (0.1, 0.03, 0.01, 0.003, 0.001, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5)
SHARES = (("a fiftieth", 0.02), ("a tenth", 0.1), ("a fifth", 0.2), ("a third", 1 / 3), ("half", 0.5))
SIDE_BY_SIDE = ("means of four states up to it, side by side", "last4")
UNITS = 64
PATIENCE = 3
LINEAR, HIDDEN = "linear", f"one hidden layer ({UNITS} units)"
ADAM, LBFGS = "Adam, step by step", "L-BFGS, solved at once"
# Past the queue: a late answer would undo changes typed in the meantime.
AT_ONCE = {"queue": False}
HIDDEN_STATES = {"low": 0, "high": lambda model: model.layers}


def preset_for(hidden_size: int, layers: int) -> str:
    """The name of the preset for so many trained layers in a model of this width."""
    if not layers:
        return FIT_PRESET
    return BASE_PRESET if hidden_size >= WIDE else SMALL_PRESET


def _at_once(view: "Recipe") -> bool:
    return _may_be_solved(view) and view.solver == LBFGS


def _may_be_solved(view: "Recipe") -> bool:
    return not view.layers and view.head == LINEAR


def _by_steps(view: "Recipe") -> bool:
    return not _at_once(view)


class Recipe(View):
    """The settings of the training, most of them set by a preset."""

    name, question = "fine-tune/recipe", "What is trained, and how?"
    width, fold = 4, "Settings"
    side_by_side = (("train", "cancel"),)
    by_hand: ClassVar = {
        "train": "A training streams, can be cancelled, and outlasts its page.",
        "cancel": "It stops a training that runs in another handler.",
    }
    train = button("Train", variant="primary")
    cancel = button("Cancel", visible=False)
    layers: int = number(0, LAYERS, **HIDDEN_STATES, **AT_ONCE, more=True)
    preset: str = choice((*PRESETS, OWN), "Settings", menu=True, more=True, when=_by_steps, **AT_ONCE)
    epochs: int = number(
        0,
        "Epochs (0: as many as the examples ask for)",
        low=0,
        high=50,
        more=True,
        line=True,
        min_width=140,
        when=_by_steps,
        **AT_ONCE,
    )
    rate: float = choice(
        [(f"{rate:g}", rate) for rate in RATES],
        "Learning rate",
        default=0.01,
        menu=True,
        more=True,
        min_width=100,
        when=_by_steps,
        **AT_ONCE,
    )
    batch: int = choice((8, 16, 32, 64, 128), "Batch", default=32, menu=True, more=True, min_width=70, when=_by_steps, **AT_ONCE)
    layer: int = number(6, "The head reads hidden state (0: embeddings)", **HIDDEN_STATES, more=True, line=True, min_width=140)
    pooling: str = pooling(SIDE_BY_SIDE, more=True, min_width=140)
    head: str = choice((LINEAR, HIDDEN), "Head", more=True, line=True)
    solver: str = choice((ADAM, LBFGS), "A linear head without layers is trained with", more=True, line=True, when=_may_be_solved)
    regularization: float = choice(
        (10, 1, 0.1, 0.01), "Regularisation (L-BFGS)", default=1, menu=True, more=True, line=True, min_width=100, when=_at_once
    )
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
    early: bool = switch(
        False, f"Stop when the held-out loss has not fallen for {PATIENCE} epochs", more=True, line=True, when=_by_steps
    )
    last: bool = switch(
        False, "Keep the last epoch, not the one that is best on the held-out examples", more=True, line=True, when=_by_steps
    )

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan, checked. Raises InputError."""
        return make_plan(
            model,
            self.layer,
            self.pooling,
            self.layers,
            keep_best=not self.last,
            epochs=self.epochs,
            learning_rate=self.rate,
            batch_size=self.batch,
            seed=self.seed,
            units=UNITS if self.head == HIDDEN else 0,
            optimizer="lbfgs" if _at_once(self) else "adam",
            regularization=self.regularization,
            balanced=self.balanced,
            held_out=self.held_out,
            patience=PATIENCE if self.early else 0,
            averaged=self.averaged if self.layers and self.head == LINEAR else 1,
        )

    def on_preset(self, subject: Subject, name: str) -> Change:
        """Set the numbers of a preset."""
        if name == OWN:
            return settle(preset=OWN)
        epochs, rate, batch = PRESETS[name]
        return settle(preset=name, epochs=epochs, rate=rate, batch=batch)

    def on_layers(self, subject: Subject, layers: int) -> Change:
        """Choose the preset for so many layers, unless the person has changed the numbers."""
        if bool(layers) == (self.preset not in (FIT_PRESET, HEAD_PRESET)) or self.preset == OWN:
            return settle()
        preset = preset_for(subject.model.capabilities.hidden_size, layers)
        numbers = self.on_preset(subject, preset).settings
        return settle(**numbers, pooling="cls" if layers else "mean")

    def on_epochs(self, subject: Subject, _: float) -> Change:
        """A number was changed by the person."""
        return settle(preset=OWN)

    on_rate = on_batch = on_epochs
