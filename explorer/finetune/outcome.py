"""The outcome of a training: its final score, its curves, and baselines without BERT, for each kind of task."""

from collections.abc import Sequence
from typing import ClassVar

from explorer.analysis.evaluation import EntityScores
from explorer.analysis.resampling import wilson
from explorer.core import jobs
from explorer.finetune.answer_examples import AnswerExamples
from explorer.finetune.compute.run import CORRELATIONS, HeldOutLabels, HeldOutTags, HeldOutTexts, Run, told
from explorer.finetune.examples import ExamplesView
from explorer.finetune.pictures.training import learning_curves
from explorer.finetune.recipe import AnswerRecipe, Recipe, WordRecipe
from explorer.finetune.run import NothingTrained, OfAnswers, OfTaggers, RunView
from explorer.finetune.train import Trainer
from explorer.finetune.words_examples import WordExamples
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.training.tagging import MEMORY, MEMORY_OF_NAMES
from explorer.ui.pictures.bars import bar_groups, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.telling import LEAST
from explorer.ui.view import Content, Finding, View, button, part

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


class Outcome(Trainer):
    """Loss and accuracy by epoch, with the epoch that was kept marked."""

    name, question = "fine-tune/outcome", "How did the training go?"
    reads: ClassVar[Sequence[type[View]]] = (ExamplesView, Recipe)

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
        if (run := self.seen(subject)) is None:
            return None
        if unsure := hardly_learned(run):
            return Finding(unsure)
        if not run.baselines:
            return Finding(f"{_right(run, IN_TURN)}.") if _is_judged_in_turn(run) else None
        name, best = max(run.baselines.items(), key=lambda item: item[1])
        if run.kind == "number":
            return Finding(
                f"Its numbers rank the held-out pairs with Spearman {run.score:.2f}; without BERT ({name}), {best:.2f}."
            )
        return Finding(
            f"Right on {whole_percent(run.score)} of the held-out sentences; without BERT ({name}), {whole_percent(best)}."
        )

    def show_run(self, subject: Subject, run: Run) -> Content:
        return {"status": summary(run), "curves": learning_curves(run.history, len(run.history), run.best)}


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


class WordOutcome(OfTaggers, Outcome):
    """Loss and accuracy by epoch, and the scores of whole names."""

    name, question = "fine-tune/words-outcome", "How did the training go?"
    reads = (WordExamples, WordRecipe)
    train = button("Train", variant="primary", size="lg")
    cancel = button("Cancel", visible=False, size="lg")

    def finding(self, subject: Subject) -> Finding | None:
        if (run := self.seen(subject)) is None or MEMORY not in run.baselines:
            return None
        if unsure := hardly_learned(run):
            return Finding(unsure)
        remembered = whole_percent(run.baselines[MEMORY])
        return Finding(
            f"Right on {whole_percent(run.score)} of the held-out words; remembering the tag that each word had most often in "
            f"training, {remembered}."
        )

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


class AnswerOutcome(OfAnswers, Outcome):
    """Loss, exact match and F1 by epoch, with the epoch that was kept marked."""

    name, question = "fine-tune/answer-outcome", "How did the training go?"
    reads = (AnswerExamples, AnswerRecipe)
    train = button("Train", variant="primary", size="lg")
    cancel = button("Cancel", visible=False, size="lg")

    def finding(self, subject: Subject) -> Finding | None:
        if (run := self.seen(subject)) is None or not run.baselines:
            return None
        name, best = max(run.baselines.items(), key=lambda item: item[1])
        return Finding(
            f"Exactly right on {whole_percent(run.score)} of the held-out questions; without BERT ({name}), "
            f"{whole_percent(best)}."
        )


def _scores(run: Run) -> list[EntityScores]:
    """The scores of whole names, overall and by type; [] if there are none."""
    return run.held(HeldOutTags).entities(run.predictor.labels) if run.held_out else []
