"""Attribution by token: the base of the views for a word in a blank and for IsNext."""

from abc import abstractmethod
from collections.abc import Generator, Sequence

import numpy as np

from explorer.techniques.attribution import Attribution, attribute, integrated_gradients_in_steps
from explorer.techniques.targets import Target
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import SEEN
from explorer.ui.pictures.word_effects import attribution_bars
from explorer.ui.settings import choice, number
from explorer.ui.subject import Subject
from explorer.ui.telling import quote
from explorer.ui.view import Content, Finding, caption, chart, part

Found = tuple[Target, Attribution, Attribution]

INTEGRATED = "integrated_gradients"
BASELINES = {"pad": "[PAD]", "mask": "[MASK]", "mean": "the mean embedding"}
METHODS = {INTEGRATED: "Integrated gradients", "gradient_x_input": "Gradient × input"}

ABOUT = (
    "A score above 0 speaks for the answer, one below 0 against it, in logits (no bounds). Integrated gradients (Sundararajan "
    "et al. 2017) sum to the change of the logit from a baseline to the input. The baseline replaces every piece that is not a "
    "special token by [PAD], [MASK] or the mean of all word embeddings, so special tokens score 0. A correct sum does not make "
    "a baseline right: compare several. Gradient × input (Shrikumar et al. 2016) is the first-order relative and has no such "
    "sum. Occlusion is how far the logit falls when [MASK] replaces the token."
)


class AttributionView(LongView):
    """A score for each token. Subclasses implement `target`."""

    question = "Which tokens does the answer depend on?"
    start = "Score every token"
    bars = chart("Attribution by token", height=320, answer=True)
    method: str = choice([(label, key) for key, label in METHODS.items()])
    check = part("check", keep_height=True, answer=True)
    help = caption(ABOUT)
    baseline: str = choice(
        [(label, key) for key, label in BASELINES.items()], "Baseline", more=True, when=lambda view: view.method == INTEGRATED
    )
    steps: int = number(
        50, "Steps", low=5, high=300, step=5, heard="release", more=True, when=lambda view: view.method == INTEGRATED
    )

    @abstractmethod
    def target(self, subject: Subject) -> Target:
        """The prediction to explain."""

    def passes(self, subject: Subject) -> float:
        """One for each occluded token, and forward and backward passes along the path."""
        return subject.trace.kept + 150

    def work(self, subject: Subject) -> Generator[float, None, Found]:
        trace, target = subject.trace, self.target(subject)
        if self.method == INTEGRATED:
            scores = yield from integrated_gradients_in_steps(trace, target, self.steps, self.baseline)
        else:
            scores = attribute(trace, target, self.method)
        return target, scores, attribute(trace, target, "occlusion")

    def draw(self, subject: Subject, found: Found) -> Content:
        target, scores, occluded = found
        name = METHODS[self.method] + (f", {scores.path.steps} steps, baseline {BASELINES[self.baseline]}" if scores.path else "")
        unit = f"logit of {target.token}" + ("" if target.foil is None else f" − {target.foil_token}")
        figure = attribution_bars(subject.trace.tokens, scores.scores, name, occluded.scores, unit)
        return {"bars": figure, "check": _check(scores, unit)}

    def finding(self, subject: Subject) -> Finding | None:
        if (found := self.known(subject)) is None:
            return None
        target, scores, occluded = found
        return Finding(_strongest(subject.trace.tokens, scores.scores, occluded.scores, target.quoted))


FELT = 4 * SEEN  # in logits, whose change moves a share by a quarter of itself at most: smaller ones move no whole percent


def _strongest(tokens: Sequence[str], scores: np.ndarray, occluded: np.ndarray, answer: str) -> str:
    """The token with the highest score for the quoted answer, whether occlusion agrees, and the token with the lowest score."""

    high, low, hidden = int(scores.argmax()), int(scores.argmin()), int(occluded.argmax())
    if scores[high] < FELT:
        return f"No token stands out as speaking for {answer}."
    said, other = f"{quote(tokens, high)} speaks most for {answer}", f"Hiding each token in turn names {quote(tokens, hidden)}"
    against = f"; {quote(tokens, low)} most against it (−{-scores[low]:.2f})" if scores[low] <= -FELT else ""
    if occluded[hidden] < FELT:
        return f"{said} ({scores[high]:+.2f}){against}."
    if hidden == high:
        return f"{said}, by gradients ({scores[high]:+.2f}) and by hiding each token in turn ({occluded[hidden]:+.2f}){against}."
    return f"The methods disagree. By gradients {said} ({scores[high]:+.2f}). {other} instead ({occluded[hidden]:+.2f})."


def _check(found: Attribution, unit: str) -> dict[str, str] | str:
    path = found.path
    if path is None:
        return "Gradient × input has no sum to check. Compare the scores with occlusion."
    mark = "✓ the sum matches the model" if path.sums_up else "✗ the sum does not match the model yet; take more steps"
    text = (
        f"{mark}: the scores sum to {found.scores.sum():.3f}, the {unit} changes by {path.change:.3f} from the "
        f"baseline to the input (convergence delta {path.delta:.1e})."
    )
    return {"text": text, "kind": "info" if path.sums_up else "error"}
