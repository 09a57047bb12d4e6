"""The settings of training a tagger."""

from typing import ClassVar

from explorer.bert.explorer import Explorer
from explorer.finetune.compute.tagger import Tagger
from explorer.finetune.compute.training import TrainingPlan, make_plan
from explorer.finetune.recipe import AT_ONCE, HIDDEN_STATES, RATES, SHARES
from explorer.ui.settings import choice, number
from explorer.ui.subject import Subject
from explorer.ui.view import Change, View, button, settle

PIECES = (("its first piece", "first"), ("the mean of its pieces", "mean"))
HEAD, LAYERS = (20, 0.01, 32), (4, 2e-4, 8)  # epochs, rate and batch for the head alone, and for layers of a small model


class WordRecipe(View):
    """The settings of training a tagger."""

    name, question = "fine-tune/words-recipe", "What is trained, and how?"
    width, fold = 6, "Settings"
    side_by_side = (("train", "cancel"),)
    by_hand: ClassVar = {
        "train": "A training streams, can be cancelled, and outlasts its page.",
        "cancel": "It stops a training that runs in another handler.",
    }
    tag_layers: int = number(0, "Layers trained with the head (0: BERT stays as it is)", **HIDDEN_STATES, **AT_ONCE)
    tag_layer: int = number(4, "The head reads hidden state (0: embeddings)", **HIDDEN_STATES, more=True, line=True, **AT_ONCE)
    tag_pieces: str = choice(PIECES, "Of each word it reads", more=True, line=True)
    tag_epochs: int = number(HEAD[0], "Epochs", low=1, high=50, more=True, line=True, min_width=140, **AT_ONCE)
    tag_rate: float = choice(
        [(f"{rate:g}", rate) for rate in RATES],
        "Learning rate",
        default=HEAD[1],
        menu=True,
        more=True,
        line=True,
        min_width=100,
        **AT_ONCE,
    )
    tag_batch: int = choice(
        (8, 16, 32, 64, 128),
        "Batch (words, or sentences with layers)",
        default=HEAD[2],
        menu=True,
        more=True,
        min_width=70,
        **AT_ONCE,
    )
    tag_held_out: float = choice(SHARES, "Held out", default=0.2, menu=True, more=True, min_width=80)
    tag_seed: int = number(0, "Seed", low=0, high=2**31 - 1, box=True, more=True, min_width=70)
    train = button("Train", variant="primary", size="lg")
    cancel = button("Cancel", visible=False, size="lg")

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan, checked. Raises InputError."""
        return make_plan(
            model,
            self.tag_layer,
            self.tag_pieces,
            self.tag_layers,
            predictor=Tagger,
            epochs=self.tag_epochs,
            learning_rate=self.tag_rate,
            batch_size=self.tag_batch,
            seed=self.tag_seed,
            held_out=self.tag_held_out,
        )

    def on_tag_layers(self, subject: Subject, layers: int) -> Change:
        """Set the numbers for so many layers, unless the person changed them; the head then reads at least that hidden state."""
        before, after = (HEAD, LAYERS) if layers else (LAYERS, HEAD)
        at_least = {"tag_layer": max(self.tag_layer, layers)}
        if (self.tag_epochs, self.tag_rate, self.tag_batch) != before:
            return settle(**at_least)
        epochs, rate, batch = after
        return settle(**at_least, tag_epochs=epochs, tag_rate=rate, tag_batch=batch)
