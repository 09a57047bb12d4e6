"""Attribution of a prediction to tokens: integrated gradients, gradient × input, and occlusion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.core.steps import finished
from explorer.techniques.ablation import readings_without
from explorer.techniques.targets import Target, batches, read
from explorer.text import limits

OCCLUSION = "occlusion"
METHODS = ("integrated_gradients", "gradient_x_input", OCCLUSION)
BASELINES = ("pad", "mask", "mean")
"""What integrated gradients put in the place of every piece that is not special: [PAD], [MASK], or the mean of the word table."""
MOST_STEPS = 300  # as many as Sundararajan et al. (2017) find enough
FINE = 0.05  # how much of the change the sum may miss: integration in steps is never exact


class Path(NamedTuple):
    """What the sum of integrated gradients is checked against, in units of the target's logit, or of its lead over the foil's."""

    steps: int
    change: float  # that at the input less that at the baseline
    delta: float  # what the scores' sum exceeds the change by

    @property
    def sums_up(self) -> bool:
        """Whether the scores sum to the change, within 5% or 0.05."""
        return abs(self.delta) <= FINE * max(1.0, abs(self.change))


class Attribution(NamedTuple):
    """A score for each token [tokens] float32, and the path of those that promise a sum.

    The unit is that of the target's logit, or, with a foil, of the difference of the two logits.
    """

    scores: np.ndarray
    path: Path | None = None


def attribute(
    trace: Trace, target: Target, method: str = "integrated_gradients", steps: int = 50, baseline: str = "pad"
) -> Attribution:
    """Scores of all tokens for the target's logit, or for what it is above its foil's.

    Only integrated gradients read the number of steps and the baseline, one of BASELINES. Raises InputError for an unknown
    method, number of steps or baseline.
    """
    limits.check_choice(method, "the method", METHODS)
    steps = limits.check_integer(steps, "the number of steps", 1, MOST_STEPS)
    limits.check_choice(baseline, "the baseline", BASELINES)
    if method == "integrated_gradients":
        return finished(integrated_gradients_in_steps(trace, target, steps, baseline))
    return gradient_x_input(trace, target) if method == "gradient_x_input" else occlusion(trace, target)


def integrated_gradients_in_steps(
    trace: Trace, target: Target, steps: int = 50, baseline: str = "pad"
) -> Generator[float, None, Attribution]:
    """Integrated gradients (Sundararajan et al. 2017) by Gauss-Legendre quadrature, summed over dimensions.

    The path goes to the input from the same input with the baseline, one of BASELINES, at every piece that is not a special
    token; positions and segments stay. Yields the share done, 0 to 1.
    """
    words, start = _words(trace), _words(trace, baseline)
    logit, total = _logit_of(trace, target), torch.zeros_like(words)
    nodes, weights = (torch.from_numpy(column).float()[:, None, None] for column in np.polynomial.legendre.leggauss(steps))
    for batch in batches(steps, trace.kept):
        with torch.enable_grad():
            points = (start + (1 + nodes[batch]) / 2 * (words - start)).requires_grad_()
            (gradients,) = torch.autograd.grad(logit(points).sum(), points)
        total += (weights[batch] / 2 * gradients).sum(0)
        yield batch.stop / steps
    scores = (total * (words - start))[0].sum(-1)
    with torch.no_grad():
        change = float(logit(words) - logit(start))
    return Attribution(scores.numpy(), Path(steps, change, float(scores.sum()) - change))


def gradient_x_input(trace: Trace, target: Target) -> Attribution:
    """The gradient of the logit (or difference of logits) by a word embedding, times that embedding (Shrikumar et al. 2016)."""
    words = _words(trace).requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(_logit_of(trace, target)(words).sum(), words)
    return Attribution((gradient * words.detach())[0].sum(-1).numpy())


@inference_mode
def occlusion(trace: Trace, target: Target) -> Attribution:
    """How much the logit, or the difference of logits, falls when [MASK] replaces a token; 0 for special tokens."""
    scores, places = np.zeros(trace.kept, dtype=np.float32), np.flatnonzero(_ordinary(trace))
    scores[places] = occlusion_of(trace, target, places[:, None].tolist())
    return Attribution(scores)


@inference_mode
def occlusion_of(trace: Trace, target: Target, words: Sequence[Sequence[int]]) -> np.ndarray:
    """How much the logit, or the difference of logits, falls when [MASK] replaces all tokens of a word: [words]."""
    full = read(trace.model, target, trace.states[-1:]).logit
    return (full - readings_without(trace, target, words).logit).numpy()


def _ordinary(trace: Trace) -> np.ndarray:
    """[tokens] bool: all but [CLS], [SEP], [MASK] and the other special tokens."""
    return ~np.isin(trace.ids, trace.model.tokenizer.all_special_ids)


def _words(trace: Trace, baseline: str = "") -> torch.Tensor:
    """The vectors of the word table [1, tokens, width], a copy; with one of BASELINES in place of all that are not special."""
    model = trace.model
    words = model.word_table[[list(trace.ids)]]
    if baseline:
        filler = {"pad": model.tokenizer.pad_token_id, "mask": model.mask_id}.get(baseline)
        words[0, _ordinary(trace)] = model.word_table.mean(axis=0) if filler is None else model.word_table[filler]
    return torch.from_numpy(words)


def _logit_of(trace: Trace, target: Target) -> Callable[[torch.Tensor], torch.Tensor]:
    model, segments = trace.model, torch.tensor(trace.encoding.segments)

    def logit(words: torch.Tensor) -> torch.Tensor:  # [batch, tokens, hidden] -> [batch]
        return read(model, target, model.run(model.embed_words(words, segments))).logit

    return logit
