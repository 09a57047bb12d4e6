"""The tagger shown, its training, and baselines without BERT."""

from typing import ClassVar

from explorer.analysis.entities import EntityScores
from explorer.bert.explorer import load
from explorer.core.cache import OnceCache
from explorer.finetune.compute.run import HeldOutTags, Run
from explorer.finetune.compute.tag_task import Tagging
from explorer.finetune.compute.training import new_run, train_whole
from explorer.finetune.live import kept_run
from explorer.finetune.outcome import Outcome, summary
from explorer.finetune.pictures.training import learning_curves
from explorer.finetune.run import NothingTrained, RunView
from explorer.finetune.words_examples import OPENING
from explorer.finetune.words_recipe import WordRecipe
from explorer.training.tagging import MEMORY, MEMORY_OF_NAMES, TAGGED, built_in_tagged
from explorer.ui.pictures.bars import bar_groups, whole_percent
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, part, reads_quickly

_opening: OnceCache[str, str] = OnceCache(8)


class OfTaggers:
    """A mixin for views of runs that tag words."""

    kinds: ClassVar[tuple[str, ...]] = ("tags",)

    def opening(self, subject: Subject) -> Run:
        """A run on the built-in names. Raises NothingTrained for models too large to read them at once."""
        if not reads_quickly(subject.model.capabilities, len(built_in_tagged(OPENING).words)):
            raise NothingTrained(f"Nothing is trained with {subject.model_name} yet; press Train.")
        return kept_run(_opening, subject.model_name, lambda: _train(subject.model_name))


def _train(model_name: str) -> str:

    model = load(model_name)
    recipe = WordRecipe(tag_layer=min(WordRecipe().tag_layer, model.capabilities.layers))
    result = train_whole(Tagging(model, built_in_tagged(OPENING), recipe.plan(model)))
    return new_run(result, TAGGED[OPENING].split(":")[0]).id


def _scores(run: Run) -> list[EntityScores]:
    """The scores of whole names, overall and by type; [] if there are none."""
    return run.held(HeldOutTags).entities(run.predictor.labels) if run.held_out else []


class WordBaselines(OfTaggers, RunView):
    """The accuracy over held-out words, and F1 of names, beside baselines without BERT."""

    name, question = "fine-tune/words-baselines", "How much of it needs no BERT?"
    compared = part("bars")

    def show_run(self, subject: Subject, run: Run) -> Content:
        """This tagger, and the baselines."""
        others = [(name, value, "") for name, value in reversed(run.baselines.items()) if name != MEMORY_OF_NAMES]
        groups = [("Held-out words that are tagged right", [("this run", run.score, ""), *others])]
        scores = _scores(run)
        if scores:
            remembered = (MEMORY, run.baselines.get(MEMORY_OF_NAMES, 0.0), "")
            groups.append(("F1 of whole names", [("this run", scores[0].f1, ""), remembered]))
        return {"compared": bar_groups(groups)}


class WordOutcome(OfTaggers, Outcome):
    """Loss and accuracy by epoch, and the scores of whole names."""

    name, question = "fine-tune/words-outcome", "How did the training go?"

    def finding(self, subject: Subject) -> Finding | None:
        """The accuracy of the tagger, beside a memory of words."""
        if (run := self.seen(subject)) is None or MEMORY not in run.baselines:
            return None
        remembered = whole_percent(run.baselines[MEMORY])
        return Finding(
            f"Right on {whole_percent(run.score)} of the held-out words; remembering the tag that each word had most often in "
            f"training, {remembered}."
        )

    def show_run(self, subject: Subject, run: Run) -> Content:
        """The curves, and a summary in a sentence."""
        scores = _scores(run)
        names = ""
        if scores:
            one = scores[0]
            names = f" Whole names: precision {one.precision:.1%}, recall {one.recall:.1%}, F1 {one.f1:.1%} (seqeval)."
        return {"status": f"{summary(run)}{names}", "curves": learning_curves(run.history, len(run.history), run.best)}
