"""Views of regression: the estimate for a text or a pair, and the errors on held-out examples."""

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.bert.explorer import load
from explorer.finetune.compute.predictor import Regressor, of_kind
from explorer.finetune.compute.reasons import estimate_without
from explorer.finetune.compute.run import HeldOutNumbers, Run
from explorer.finetune.pictures.results import number_scatter
from explorer.text.pairs import Pair
from explorer.ui.pictures.bars import bar_groups
from explorer.ui.pictures.word_effects import word_effects
from explorer.ui.view import Content, props

MOST_LISTED = 12


def verdict_of_number(run: Run, pair: Pair) -> Content:
    """The estimate for a text or pair on the scale of the examples, and the effect of masking each word (occlusion)."""
    said, words, effects = estimate_without(of_kind(run.predictor, Regressor), load(run.predictor.model), pair)
    low, high = _scale(run)
    share = (min(max(said, low), high) - low) / (high - low)
    rows = [(f"{said:.2f}", share, f"on a scale from {low:g} to {high:g}")]
    return {
        "verdict": bar_groups([("", rows)], form=".0%"),
        "words": word_effects(words, effects.tolist(), shares=False) if words else None,
        "note": "How much lower the number is when one word is hidden behind [MASK] (occlusion).",
    }


def _scale(run: Run) -> tuple[float, float]:
    """The lowest and the highest held-out number; 0 to 1 if there are none."""
    if run.held_out is None:
        return 0.0, 1.0
    right = run.held(HeldOutNumbers).targets
    return (0.0, 1.0) if np.ptp(right) == 0 else (float(right.min()), float(right.max()))


def result_of_numbers(run: Run) -> Content:
    """Estimates against true numbers, and the examples with the largest errors."""
    held = run.held(HeldOutNumbers)
    error = np.abs(held.said - held.targets)
    rows = np.argsort(-error, kind="stable")[:MOST_LISTED]
    texts = [f"{one} ‖ {other}" if other else one for one, other in zip(held.texts, held.texts_b, strict=True)]
    listed = [[texts[row], f"{held.targets[row]:g}", f"{held.said[row]:.2f}"] for row in rows]
    return {
        "picture": number_scatter(held.targets, held.said, texts, run.id),
        "sentences": props(value=listed, label="Missed by most", visible=True),
        "note": (
            f"Each dot is a held-out example: what is right against what was said; on the dotted line both are the same. Off "
            f"by {error.mean():.2f} on average; Spearman's rank correlation {spearman(held.said, held.targets):.2f} (-1 to 1)."
        ),
    }
