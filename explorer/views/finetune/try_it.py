"""Try the classifier on a sentence of one's own."""

from typing import TYPE_CHECKING, Any

from explorer.base.cache import OnceCache
from explorer.figures.bars import bars
from explorer.figures.training import word_effects
from explorer.text import limits
from explorer.views.finetune.numbers import verdict_of_number
from explorer.views.finetune.run import RunView
from explorer.views.settings import choice, text
from explorer.views.subject import Subject
from explorer.views.view import Change, Content, chart, part, props, sentence, settle

if TYPE_CHECKING:
    from explorer.techniques.attribution import Path
    from explorer.training.reasons import Decision
    from explorer.training.run import Run

SENTENCES = (
    "Thank you so much, this is the best day of my life!",
    "I hate this phone, it is terrible and broke again.",
    "I love how happy and kind everyone was at the party.",
    "So sad and tired, this week has been awful.",
    "My flight to Oslo leaves at half past six.",
    "They moved the meeting to the small room.",
)
MOST_BARS = 6
METHODS = (("hide each word", "occlusion"), ("integrated gradients", "integrated_gradients"))
_decisions: "OnceCache[Any, Decision]" = OnceCache(64)


class TryIt(RunView):
    """A text or a pair, what the classifier says of it, and the words that decided."""

    name, question = "fine-tune/try-it", "What does it say of a sentence of your own, and why?"
    side_by_side = (("tried", "sample"),)
    tried: str = text(SENTENCES[0], "Try it on a sentence", scale=5)
    sample: str = choice(SENTENCES, "or one of these", default="", menu=True, free=True, linked=False, scale=2, min_width=120)
    second: str = text("", "Second sentence", visible=False)
    verdict = part("bars")
    method: str = choice(METHODS, "The words that decided")
    words = chart("The words that decided", height=170)
    note = sentence(classes="caption", keep_height=True)

    def show_run(self, subject: Subject, run: "Run") -> Content:
        """The probabilities of the labels for this text, and how they depend on its words."""
        pairs = run.held_out is not None and any(run.held_out.texts_b)
        shown = {"second": props(visible=pairs)}
        if not limits.has_visible_characters(self.tried):
            return {**shown, "verdict": None, "words": None, "note": ""}
        if run.kind == "number":
            return {**shown, **verdict_of_number(run, (self.tried, self.second if pairs else ""))}
        found = self._decide(run, self.second if pairs else "")
        labels = run.predictor.labels
        ranked = sorted(zip(labels, found.probabilities.tolist(), strict=True), key=lambda item: -item[1])
        words = word_effects(found.words, found.effects.tolist(), found.path is None) if found.words else None
        return {
            **shown,
            "verdict": bars([(label, share, "") for label, share in ranked[:MOST_BARS]]),
            "words": words,
            "note": _explain(labels[found.best], found.path),
        }

    def on_sample(self, subject: Subject, sample: str) -> Change:
        """One of the sentences that are there to be tried."""
        return settle(tried=sample)

    def _decide(self, run: "Run", second: str) -> "Decision":
        from explorer.model.explorer import load
        from explorer.training.reasons import decide

        pair, model = (self.tried, second), run.predictor.model
        key = (run.id, pair, self.method)
        return _decisions.get(key, lambda: decide(run.predictor, load(model), pair, self.method))


def _explain(label: str, path: "Path | None") -> str | dict[str, str]:
    """What the bars of the words mean, with the check where there is one."""
    if path is None:
        return f"How much the probability of {label} falls when one word is hidden behind [MASK] (occlusion)."
    mark = "✓ their sum matches" if path.sums_up else "✗ their sum does not match"
    explained = (
        f"What each word adds to the log-odds of {label}, from [PAD] everywhere to this text (integrated gradients, "
        f"{path.steps} steps). {mark} the model's change of {path.change:+.2f}, off by {abs(path.delta):.0e}."
    )
    return {"text": explained, "kind": "info" if path.sums_up else "error"}
