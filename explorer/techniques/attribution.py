"""Attribution of a prediction to tokens: integrated gradients, gradient × input, and occlusion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.engine import captum, inference_mode, torch
from explorer.core.steps import map_steps, relay
from explorer.techniques.ablation import readings_without
from explorer.techniques.targets import TOKENS_AT_ONCE, Target, read
from explorer.text import limits

OCCLUSION = "occlusion"
METHODS = ("integrated_gradients", "gradient_x_input", OCCLUSION)
BASELINES = ("pad", "mask", "mean")
"""What integrated gradients put in the place of every piece that is not special: [PAD], [MASK], or the mean of the word table."""
MOST_STEPS = 300  # as many as Sundararajan et al. (2017) find enough
LONGEST_BATCH = 10.0  # seconds: after it stopped work has ended, and leaves the processor to what comes next
FINE = 0.05  # how much of the change the sum may miss: integration in steps is never exact


@dataclass(frozen=True)
class Path:
    """What the sum of integrated gradients is checked against, in units of the target's logit, or of its lead over the foil's."""

    steps: int
    change: float  # that at the input less that at the baseline
    delta: float  # what the scores' sum exceeds the change by

    @property
    def sums_up(self) -> bool:
        """Whether the scores sum to the change, within 5% or 0.05."""
        return abs(self.delta) <= FINE * max(1.0, abs(self.change))


@dataclass(frozen=True)
class Attribution:
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
        return integrated_gradients(trace, target, steps, baseline=baseline)
    return gradient_x_input(trace, target) if method == "gradient_x_input" else occlusion(trace, target)


def integrated_gradients(
    trace: Trace,
    target: Target,
    steps: int = 50,
    logit: Callable[[torch.Tensor], torch.Tensor] | None = None,
    baseline: str = "pad",
) -> Attribution:
    """Integrated gradients (Sundararajan et al. 2017), by captum: Gauss-Legendre quadrature, summed over dimensions.

    The path goes to the input from the same input with the baseline, one of BASELINES, at every piece that is not a special
    token; positions and segments stay.
    """
    words, start = _words(trace.model, trace.ids), baseline_words(trace, baseline)
    logit = logit or _logit_of(trace, target)
    with torch.enable_grad():
        attributed, delta = captum.attr.IntegratedGradients(logit).attribute(
            words, start, n_steps=steps, internal_batch_size=max(1, TOKENS_AT_ONCE // trace.kept), return_convergence_delta=True
        )
    with torch.no_grad():
        path = Path(steps, float(logit(words) - logit(start)), float(delta))
    return Attribution(attributed[0].sum(-1).detach().numpy().astype(np.float32), path)


def integrated_gradients_in_steps(
    trace: Trace, target: Target, steps: int = 50, baseline: str = "pad"
) -> Generator[float, None, Attribution]:
    """The same, yielding the share done, 0 to 1; closing the generator stops the work."""

    def work(report: Callable[[float], None]) -> Attribution:
        logit, rows = _logit_of(trace, target), 0

        def reporting(batch: torch.Tensor) -> torch.Tensor:  # captum can only be stopped from the function it calls
            nonlocal rows
            rows += len(batch)
            report(min(1.0, rows / (steps + 4)))
            return logit(batch)

        return integrated_gradients(trace, target, steps, reporting, baseline)

    return (yield from map_steps(relay(work, LONGEST_BATCH), lambda share: share or 0.0))


def gradient_x_input(trace: Trace, target: Target) -> Attribution:
    """The gradient of the logit (or difference of logits) by a word embedding, times that embedding (Shrikumar et al. 2016)."""
    words = _words(trace.model, trace.ids).requires_grad_()
    with torch.enable_grad():
        attributed = captum.attr.InputXGradient(_logit_of(trace, target)).attribute(words)
    return Attribution(attributed[0].sum(-1).detach().numpy().astype(np.float32))


@inference_mode
def occlusion(trace: Trace, target: Target) -> Attribution:
    """How much the logit, or the difference of logits, falls when [MASK] replaces a token; 0 for special tokens."""
    special = special_places(trace)
    places = [position for position in range(trace.kept) if not special[position]]
    scores = np.zeros(trace.kept, dtype=np.float32)
    scores[places] = occlusion_of(trace, target, [[place] for place in places])
    return Attribution(scores)


@inference_mode
def occlusion_of(trace: Trace, target: Target, words: Sequence[Sequence[int]]) -> np.ndarray:
    """How much the logit, or the difference of logits, falls when [MASK] replaces all tokens of a word: [words]."""
    full = read(trace.model, target, trace.states[-1:]).logit
    return (full - readings_without(trace, target, words).logit).numpy()


def special_places(trace: Trace) -> np.ndarray:
    """[tokens] bool: [CLS], [SEP], [MASK] and the other special tokens."""
    return np.isin(trace.ids, trace.model.tokenizer.all_special_ids)


def baseline_words(trace: Trace, baseline: str) -> torch.Tensor:
    """The word vectors [1, tokens, width] of a baseline, one of BASELINES: those of special tokens are their own."""
    model, words = trace.model, _words(trace.model, trace.ids)
    filler = {"pad": model.tokenizer.pad_token_id, "mask": model.mask_id}.get(baseline)
    vector = model.word_table.mean(axis=0) if filler is None else model.word_table[filler].copy()
    words[0, ~special_places(trace)] = torch.from_numpy(vector)
    return words


def _words(model: Network, ids: Sequence[int]) -> torch.Tensor:
    """The rows of the word table: [1, tokens, hidden], a copy."""
    return torch.from_numpy(model.word_table[[list(ids)]])


def _logit_of(trace: Trace, target: Target) -> Callable[[torch.Tensor], torch.Tensor]:
    model, segments = trace.model, torch.tensor(trace.encoding.segments)

    def logit(words: torch.Tensor) -> torch.Tensor:  # [batch, tokens, hidden] -> [batch]
        return read(model, target, model.run(model.embed_words(words, segments))).logit

    return logit
