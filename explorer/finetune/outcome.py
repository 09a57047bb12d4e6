"""The outcome of a training: its final score, its curves, and baselines without BERT, for each kind of task."""

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from explorer.analysis.evaluation import EntityScores
from explorer.analysis.resampling import wilson
from explorer.core import jobs
from explorer.core.errors import ExplorerError
from explorer.core.scheduling import TRAINING
from explorer.finetune import live
from explorer.finetune.answer_examples import AnswerExamples
from explorer.finetune.compute.run import CORRELATIONS, HeldOutLabels, HeldOutTags, HeldOutTexts, Run, told
from explorer.finetune.examples import ExamplesView, size_of
from explorer.finetune.pictures.training import learning_curves
from explorer.finetune.recipe import AnswerRecipe, Recipe, WordRecipe, of_recipe
from explorer.finetune.run import NothingTrained, OfAnswers, OfTaggers, RunView
from explorer.finetune.train import Trainer
from explorer.finetune.verdict import cost, duration, judge, next_step
from explorer.finetune.words_examples import WordExamples
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.training.tagging import MEMORY, MEMORY_OF_NAMES
from explorer.ui.layout import row
from explorer.ui.pictures.bars import bar_groups, whole_percent
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.telling import LEAST
from explorer.ui.view import Change, Content, Finding, View, button, part, props, runs_as

JUDGED = {
    "accuracy": "Right on held-out sentences",
    "spearman": "Rank correlation with what is right, held out",
    "exact_match": "Exactly right on held-out questions",
}
IN_TURN = "right when each is left out in turn"
CHOSEN = "The epoch was chosen on these same held-out sentences, so expect a little less on new ones."


class Baselines(RunView):
    """The held-out score beside baselines without BERT."""

    name, question = "fine-tune/baselines", "How much of it needs no BERT?"
    folded = question
    compared = part("bars")

    def show_run(self, subject: Subject, run: Run) -> Content:
        """This run's score, and the baselines."""
        others = [(name, max(0, value), "") for name, value in reversed(run.baselines.items())]
        rows = [("this run", max(0, run.score), ""), *others]
        form = ".2f" if run.measure in CORRELATIONS else ""
        return {"compared": bar_groups([(JUDGED.get(run.measure, JUDGED["accuracy"]), rows)], form=form)}


class AnyOutcome(Trainer):
    """A base for the outcome of each kind of task."""

    question = "How did the training go?"

    def compute(self, subject: Subject) -> Content:
        """The outcome; nothing new while a running training reports here."""
        return {} if jobs.is_running(self.training) else super().compute(subject)

    def without_run(self, why: str) -> Content:
        return {**super().without_run(why), "status": why}

    def seen(self, subject: Subject) -> Run | None:
        """The run shown; None while another one is being trained."""
        try:
            return None if jobs.is_running(self.training) else self.find(subject)
        except NothingTrained:
            return None

    def finding(self, subject: Subject) -> Finding | None:
        if (run := self.seen(subject)) is None or not run.history:
            return None
        return Finding(hardly_learned(run) or judge(run))

    def show_run(self, subject: Subject, run: Run) -> Content:
        return {"status": summary(run), "curves": learning_curves(run.history, len(run.history), run.best)}


class Outcome(AnyOutcome):
    """Loss and accuracy by epoch, with the epoch that was kept marked, and what to try next."""

    name = "fine-tune/outcome"
    reads: ClassVar[Sequence[type[View]]] = (ExamplesView, Recipe)
    layout = (row("train", "go_on", "cancel"),)
    names = ("next_step", *AnyOutcome.names)
    size: tuple[int, int] = memory((0, 0), kept=size_of, linked=False)
    layers: int = of_recipe("layers")
    preset: str = of_recipe("preset")
    epochs: int = of_recipe("epochs")
    rate: float = of_recipe("rate")
    batch: int = of_recipe("batch")
    layer: int = of_recipe("layer")
    pooling: str = of_recipe("pooling")
    head: str = of_recipe("head")
    next_step = button("Next step", optional=True, wide=True)
    go_on = button("Go on from here", optional=True)

    def show_run(self, subject: Subject, run: Run) -> Content:
        """The outcome; a button for what is not instant, and one for the next step, with what each costs."""
        again = self.recipe() != Recipe() or not live.is_of_examples(run.id)
        step = next_step(run, subject.model.capabilities) if run.kind == "classes" else None
        label = step and f"Next: {step.text} ({self._cost(subject, self.recipe(**step.settings))})"
        return {
            **super().show_run(subject, run),
            "train": props(value=f"Train ({self._cost(subject, self.recipe())})", visible=again),
            **({"go_on": f"Go on: {run.settings['epochs']} more epochs"} if _can_go_on(run) else {}),
            **({"next_step": props(value=label, visible=True, interactive=True)} if label else {}),
        }

    def without_run(self, why: str) -> Content:
        return {**super().without_run(why), "train": props(value="Train", visible=True)}

    @runs_as(TRAINING)
    def on_next_step(self, subject: Subject, _: None, source: ExamplesView, recipe: Recipe) -> Generator[Content, None, Change]:
        """Do what the button proposes."""
        run = self.find(subject)
        step = next_step(run, subject.model.capabilities)
        return (yield from self.train_as(subject, source, recipe, step.settings if step else {}))

    @runs_as(TRAINING)
    def on_go_on(self, subject: Subject, _: None, source: ExamplesView, recipe: Recipe) -> Generator[Content, None, Change]:
        """Train on from the run that is shown, by its own settings."""
        return (yield from self.train_as(subject, source, recipe, begun=self.find(subject)))

    begin_go_on, fail_go_on = Trainer.begin_train, Trainer.fail_train

    def begin_next_step(self) -> Content:
        return {**self.begin_train(), "next_step": props(interactive=False)}

    def fail_next_step(self) -> Content:
        return {**self.fail_train(), "next_step": props(interactive=True)}

    def _cost(self, subject: Subject, recipe: Recipe) -> str:
        try:
            return duration(cost(subject.model.capabilities, recipe.plan(subject.model), *self.size))
        except ExplorerError:  # the recipe says why
            return "see the settings"

    def recipe(self, **settings: Any) -> Recipe:
        """The recipe on the page, with these settings in place of its own."""
        own = {name: getattr(self, name) for name in ("layers", "preset", "epochs", "rate", "batch", "layer", "pooling", "head")}
        return Recipe(**{**own, **settings})


def _can_go_on(run: Run) -> bool:
    """Whether more steps may change something: a head that is solved directly is at its end, and a file has no split."""
    by_steps = run.kind == "classes" and run.settings.get("optimizer") == "adam" and run.held_out is not None
    return by_steps and {"layer", "pooling", "layers_trained", "keep_best", "epochs"} <= run.settings.keys()


def summary(run: Run) -> str:
    """What was trained, and its held-out scores, in a sentence."""
    layers = run.settings.get("layers_trained")
    trained = f"the head and {layers} layer{'s' if layers != 1 else ''}" if layers else "the head only"
    averaged = run.settings.get("averaged", 1)
    trained += f", the mean of {averaged} trainings" if averaged > 1 else ""
    solved = run.settings.get("optimizer") == "lbfgs"
    unsure = hardly_learned(run)
    if not unsure and _is_judged_in_turn(run):
        return f"{run.title}: {_right(run, IN_TURN)}; {trained}, {_learnt(run, solved)}."
    kept = "solved at once" if solved else f"epoch {run.best + 1} of {len(run.history)}"
    if layers and run.best > 1:
        kept += " (a mean of its weights and those before)"
    if unsure:
        return f"{run.title}: {trained}{'' if solved else f', {kept}'}. {unsure}"
    _, first, second = run.predictor.measures
    scores = ", ".join(told(name, run.history[run.best][f"held_out_{name}"]) for name in (first, second))
    end = f"{run.title}: {trained}, {kept}; held-out {scores}."
    if isinstance(run.held_out, HeldOutTexts) and len(run.held_out.targets) < FEWEST_HELD_OUT:
        return f"{end} {_right(run, 'right')}: that says little, and no epoch was chosen on so few."
    return f"{end} {CHOSEN}" if run.settings.get("keep_best") and len(run.history) > 1 else end


def _is_judged_in_turn(run: Run) -> bool:
    """Whether the run was judged by leave-one-out: the head was trained on all examples, other heads judged it."""
    return run.settings.get("held_out") == 0 and run.held_out is not None


def _learnt(run: Run, solved: bool) -> str:
    how = "solved at once" if solved else f"{run.settings.get('epochs')} epochs"
    return f"{how} on all {len(run.held(HeldOutTexts).targets)}"


def _right(run: Run, how: str) -> str:
    """'9 of 18 right (50%, 95% interval 29 to 71%)', with Wilson's interval, because few examples say little."""
    number = len(run.held(HeldOutTexts).targets)
    right = round(number * run.score)
    low, high = wilson(right, number)
    return f"{right} of {number} {how} ({whole_percent(run.score)}, 95% interval {100 * low:.0f} to {whole_percent(high)})"


def hardly_learned(run: Run) -> str:
    """A sentence in place of the score where the labels get nearly equal shares, '' otherwise.

    The largest of almost equal shares may be the right one each time, and the score 100%, though the head is sure of nothing.
    """
    held = run.held_out
    if not isinstance(held, HeldOutLabels) or not len(held.targets):
        return ""
    even, first = 1 / held.probabilities.shape[1], float(held.probabilities.max(axis=1).mean())
    if first >= even + LEAST:
        return ""
    shares = f"the first gets {whole_percent(first)} on average, where {whole_percent(even)} is even"
    return (
        f"The head has hardly learned yet: its labels have nearly equal shares ({shares}). Train it longer, or at a higher rate."
    )


class WordOutcome(OfTaggers, AnyOutcome):
    """Loss and accuracy by epoch, and the scores of whole names."""

    name = "fine-tune/words-outcome"
    reads = (WordExamples, WordRecipe)
    train = button("Train", variant="primary", size="lg")
    cancel = button("Cancel", visible=False, size="lg")

    def show_run(self, subject: Subject, run: Run) -> Content:
        scores = _scores(run)
        names = ""
        if scores:
            one = scores[0]
            names = f" Whole names: precision {one.precision:.1%}, recall {one.recall:.1%}, F1 {one.f1:.1%} (seqeval)."
        return {"status": f"{summary(run)}{names}", "curves": learning_curves(run.history, len(run.history), run.best)}


class WordBaselines(OfTaggers, RunView):
    """The accuracy over held-out words, and F1 of names, beside baselines without BERT."""

    name, question = "fine-tune/words-baselines", "How much of it needs no BERT?"
    compared = part("bars")

    def show_run(self, subject: Subject, run: Run) -> Content:
        others = [(name, value, "") for name, value in reversed(run.baselines.items()) if name != MEMORY_OF_NAMES]
        groups = [("Held-out words that are tagged right", [("this run", run.score, ""), *others])]
        scores = _scores(run)
        if scores:
            remembered = (MEMORY, run.baselines.get(MEMORY_OF_NAMES, 0.0), "")
            groups.append(("F1 of whole names", [("this run", scores[0].f1, ""), remembered]))
        return {"compared": bar_groups(groups)}


class AnswerBaselines(OfAnswers, Baselines):
    """Exact match beside baselines without BERT."""

    name, question = "fine-tune/answer-baselines", "How much of it needs no BERT?"


class AnswerOutcome(OfAnswers, AnyOutcome):
    """Loss, exact match and F1 by epoch, with the epoch that was kept marked."""

    name = "fine-tune/answer-outcome"
    reads = (AnswerExamples, AnswerRecipe)
    train = button("Train", variant="primary", size="lg")
    cancel = button("Cancel", visible=False, size="lg")


def _scores(run: Run) -> list[EntityScores]:
    """The scores of whole names, overall and by type; [] if there are none."""
    return run.held(HeldOutTags).entities(run.predictor.labels) if run.held_out else []
