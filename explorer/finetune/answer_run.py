"""Settings and outcome of training for question answering."""

from typing import ClassVar

from explorer.bert.explorer import Explorer
from explorer.finetune.compute.answering import Answerer
from explorer.finetune.compute.prefix import EVERY_TOKEN
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.training import TrainingPlan, make_plan
from explorer.finetune.outcome import Baselines, Outcome
from explorer.finetune.recipe import AT_ONCE, HIDDEN_STATES, LAYERS, RATES, SHARES
from explorer.finetune.run import NothingTrained
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.settings import choice, number, switch
from explorer.ui.subject import Subject
from explorer.ui.view import Finding, View, button


class AnswerRecipe(View):
    """The settings of the training; the defaults suit the bundled model."""

    name, question = "fine-tune/answer-recipe", "What is trained, and how?"
    width, fold = 6, "Settings"
    side_by_side = (("train", "cancel"),)
    by_hand: ClassVar = {
        "train": "A training streams, can be cancelled, and outlasts its page.",
        "cancel": "It stops a training that runs in another handler.",
    }
    answer_layers: int = number(6, LAYERS, **HIDDEN_STATES, **AT_ONCE)
    answer_epochs: int = number(4, "Epochs", low=1, high=50, more=True, line=True, min_width=140, **AT_ONCE)
    answer_rate: float = choice(
        [(f"{rate:g}", rate) for rate in RATES], "Learning rate", default=2e-4, menu=True, more=True, min_width=100, **AT_ONCE
    )
    answer_batch: int = choice((8, 16, 32), "Batch", default=16, menu=True, more=True, min_width=70, **AT_ONCE)
    answer_held_out: float = choice(SHARES, "Held out", default=0.2, menu=True, more=True, min_width=80)
    answer_seed: int = number(0, "Seed", low=0, high=2**31 - 1, box=True, more=True, min_width=70)
    answer_best: bool = switch(False, "Keep the epoch that is best on the held-out questions, not the last", more=True, line=True)
    train = button("Train", variant="primary", size="lg")
    cancel = button("Cancel", visible=False, size="lg")

    def plan(self, model: Explorer) -> TrainingPlan:
        """The training plan, checked. Raises InputError."""
        return make_plan(
            model,
            -1,
            EVERY_TOKEN,
            self.answer_layers,
            keep_best=self.answer_best,
            predictor=Answerer,
            epochs=self.answer_epochs,
            learning_rate=self.answer_rate,
            batch_size=self.answer_batch,
            seed=self.answer_seed,
            held_out=self.answer_held_out,
        )


class OfAnswers:
    """A mixin for views of runs that answer questions."""

    kinds: ClassVar[tuple[str, ...]] = ("spans",)

    def opening(self, subject: Subject) -> Run:
        """None: all layers have to be trained, which takes too long when a page opens. Raises NothingTrained."""
        raise NothingTrained("Nothing has learnt to find answers yet; press Train, which takes a minute or so.")


class AnswerBaselines(OfAnswers, Baselines):
    """Exact match beside baselines without BERT."""

    name, question = "fine-tune/answer-baselines", "How much of it needs no BERT?"


class AnswerOutcome(OfAnswers, Outcome):
    """Loss, exact match and F1 by epoch, with the epoch that was kept marked."""

    name, question = "fine-tune/answer-outcome", "How did the training go?"

    def finding(self, subject: Subject) -> Finding | None:
        """The share of exact answers, beside the best baseline without BERT."""
        if (run := self.seen(subject)) is None or not run.baselines:
            return None
        name, best = max(run.baselines.items(), key=lambda item: item[1])
        return Finding(
            f"Exactly right on {whole_percent(run.score)} of the held-out questions; without BERT ({name}), "
            f"{whole_percent(best)}."
        )
