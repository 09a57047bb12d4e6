"""What a result is worth, in one sentence, and the next step that could make it better."""

from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import Any

import numpy as np

from explorer.analysis.resampling import bootstrap, wilson
from explorer.bert.capabilities import Capabilities
from explorer.finetune.compute.answers import HeldOutAnswers
from explorer.finetune.compute.predictor import HeldOutLabels, Run, TrainingPlan, write_measure
from explorer.finetune.compute.texts import HeldOutNumbers, HeldOutTexts
from explorer.finetune.compute.words import HeldOutTags
from explorer.finetune.pictures import is_in_turn
from explorer.finetune.recipe import OWN, PRESETS, TEXTS, defaults, preset_for
from explorer.training.settings import FEWEST_HELD_OUT
from explorer.training.tagging import MEMORY, MEMORY_OF_NAMES
from explorer.ui.long_view import QUICK
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.telling import LEAST, interval

NORMAL = 1.96  # of the normal distribution, for a 95% interval
SPEARMAN = 1.06  # of the variance of a transformed rank correlation (Fieller, Hartley & Pearson 1957)
PIECES_PER_WORD = 1.4
BACKWARD = 3  # passes of a layer that is trained for one that is not: forwards, and backwards twice
MANY = 100  # held-out examples from which a share says more than a count
STEP_SECONDS = 0.02  # of a step of training, for each layer, besides its arithmetic
CHOSEN = "The epoch was chosen on these same held-out sentences, so expect a little less on new ones."
NAMES = {
    "most frequent": "guessing one class",
    "bag of words": "counting words",
    "most frequent tag": "always the most frequent tag",
    MEMORY: "remembering the tag of each word",
    MEMORY_OF_NAMES: "F1 of whole names, remembered",
    "no answer, always": "always no answer",
    "word overlap": "the words beside those of the question",
}


def judge(run: Run) -> str:
    """The score with its 95% interval, beside what needs no BERT."""
    beside = "; ".join(f"{NAMES.get(name, name)}: {_number(run, value)}" for name, value in run.baselines.items())
    return f"{_score(run)}. {beside[:1].upper()}{beside[1:]}." if beside else f"{_score(run)}."


def _score(run: Run) -> str:
    held = run.held_out
    if isinstance(held, HeldOutTexts):
        right, count = int(held.hits.sum()), len(held.targets)
        ends = f"{interval(*wilson(right, count))}, 95% interval"
        if is_in_turn(run):
            return f"{right} of {count} sentences are right when left out of the training ({ends})"
        return f"{whole_percent(right / count) if count >= MANY else right} of {count:,} held out are right ({ends})"
    if isinstance(held, HeldOutNumbers):
        count, score = len(held.targets), atanh(min(max(run.score, -0.999999), 0.999999))
        half = NORMAL * sqrt(SPEARMAN / max(1, count - 3))
        ends = f"{tanh(score - half):.2f} to {tanh(score + half):.2f}, 95% interval"
        return f"Its numbers rank {count:,} held-out texts with Spearman {run.score:.2f} ({ends})"
    share = whole_percent(run.score)
    if isinstance(held, HeldOutTags):
        return f"{share} of {len(held.hits):,} held-out words are tagged right{_interval_over(held.sentences, held.hits)}"
    if isinstance(held, HeldOutAnswers):
        return f"{share} of {len(held.hits):,} held-out questions are answered exactly{_interval_over(held.texts, held.hits)}"
    return f"The score is {_number(run, run.score)}, on sentences that are not in its file"


def _interval_over(groups: Any, right: np.ndarray) -> str:
    """The interval of a share over sentences or texts, which are drawn as wholes; '' where there are too few of them.

    Draws of groups that are all right, or all wrong, do not differ: Wilson's interval for so many groups is used instead.
    """
    _, of = np.unique(groups, return_inverse=True)
    sizes, counts = np.bincount(of).astype(np.float64), np.bincount(of, weights=right)
    share = float(counts.sum() / sizes.sum())
    if share in (0.0, 1.0):
        return f" ({interval(*wilson(share * len(sizes), len(sizes)))}, 95% interval)"
    low, high, _ = bootstrap(counts, sizes=sizes)
    return "" if np.isnan(low) else f" ({interval(max(0.0, float(low)), min(1.0, float(high)))}, 95% interval)"


def _number(run: Run, value: float) -> str:
    return f"{value:.2f}" if run.kind == "number" else whole_percent(value)


@dataclass(frozen=True)
class NextStep:
    """What to try next: a sentence, and the settings of the recipe that it changes."""

    text: str
    settings: dict[str, Any]


def next_step(run: Run, model: Capabilities) -> NextStep | None:
    """What to try after a run that sorts texts; None when all has been tried."""
    if run.kind != "classes":
        return None
    trained, most = run.settings.get("layers_trained", 0), model.layers
    first = defaults(TEXTS, model)
    if not trained and run.predictor.pooling in ("cls", "pooler"):
        return NextStep("let the head read the mean of all tokens", first)
    _, rate, _ = PRESETS[preset_for(model.hidden_size, 1)]
    layers = {**first, "preset": OWN, "pooling": "cls", "rate": rate, "batch": 16}
    if not trained and most > 2:
        return NextStep("let the top two layers learn too", {**layers, "layers": 2})
    if trained < most:
        return NextStep("let all layers learn", {**layers, "layers": most})
    return None


def cost(model: Capabilities, plan: TrainingPlan, examples: int, words: int) -> float:
    """The estimated seconds of a training on this number of examples and words."""
    settings = plan.settings.fill_in(examples, plan.layers_trained)
    layer = 12 * model.hidden_size**2 * (PIECES_PER_WORD * words + 2 * examples)
    frozen, trained = plan.layer - plan.layers_trained, plan.layers_trained
    steps = settings.epochs * -(-round(examples * (1 - settings.held_out)) // settings.batch_size)
    return layer * (frozen + BACKWARD * trained * settings.epochs) / QUICK + STEP_SECONDS * trained * steps


def summary(run: Run) -> str:
    """What was trained, and both held-out measures, in a sentence. Few examples have no measures beside those of `judge`."""
    layers = run.settings.get("layers_trained")
    trained = f"the head and {layers} layer{'s' if layers != 1 else ''}" if layers else "the head only"
    kept = f"epoch {run.best + 1} of {len(run.history)}"
    if run.settings.get("optimizer") == "lbfgs":
        kept = "solved directly"
    elif layers and run.best > 1:
        kept += " (a mean of its weights and those before)"
    said = f"{run.title}: {trained}, {kept}"
    if hardly_learned(run) or is_in_turn(run):
        return f"{said}."
    measures = [write_measure(name, run.history[run.best][f"held_out_{name}"]) for name in run.predictor.measures[1:]]
    if isinstance(run.held_out, HeldOutTags) and (names := run.held_out.entities(run.predictor.labels)):
        measures.append(f"F1 of whole names {names[0].f1:.1%} (seqeval)")
    said = f"{said}; held-out {', '.join(measures)}."
    if isinstance(run.held_out, HeldOutTexts) and len(run.held_out.targets) < FEWEST_HELD_OUT:
        return f"{said} That says little, and no epoch was chosen on so few."
    return f"{said} {CHOSEN}" if run.settings.get("keep_best") and len(run.history) > 1 else said


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
