"""Endpoints for the masked-LM head: its guesses layer by layer, and the heads and tokens on which they depend.

`word` is one piece of the vocabulary, asked for at the first [MASK]; "" is the model's own first guess there. `foil` is another
piece: what is then measured is by how much the word's logit is above the foil's.
"""

from dataclasses import asdict
from typing import Any

from explorer.api.callers import run_while_wanted
from explorer.bert.explorer import load
from explorer.core.limits import GUESSES
from explorer.techniques.ablation import Run, head_readings, prepare_head_effects
from explorer.techniques.attribution import BASELINES, attribute
from explorer.techniques.lens import READINGS, TUNED, require_tuned_lens, translate
from explorer.techniques.pseudo_likelihood import WORD_L2R, pseudo_likelihoods_in_steps
from explorer.techniques.targets import read, read_at, word_target
from explorer.text import limits


def fill_mask(text: str, text_b: str = "", top_k: int = 5, model: str = "") -> dict[str, Any]:
    """The best guesses for every [MASK], with probabilities over the whole vocabulary.

    Returns:
        `masks`: `position`, `candidates` with `token`, `id`, `probability`, `logit`.
    """
    return {"masks": list(map(asdict, load(model).fill_mask(text, text_b, top_k)))}


def lens(
    text: str, text_b: str = "", top_k: int = 5, model: str = "", word: str = "", foil: str = "", reading: str = "raw"
) -> dict[str, Any]:
    """The guesses for every [MASK] after each layer, with the head applied there; 0 is the embedding output.

    With a `foil`, also by how much the logit of `word` is above the foil's at the first [MASK]. `reading` "raw" is the logit
    lens; "tuned", for the bundled model only, first maps each state to where the head expects it.

    Returns:
        `layers`: `layer` (0 to the last), `masks` as of `/fill_mask`; with a foil `difference` (of logits), and beside
        `layers` `position`, `token`, `foil`.
    """
    explorer = load(model)
    top_k = limits.check_integer(top_k, "top_k", 1, GUESSES.most)
    limits.check_choice(reading, "the reading", READINGS)
    tuned = require_tuned_lens(explorer) if reading == TUNED else None
    trace = explorer.trace(text, text_b)
    positions = trace.blanks()
    layers: list[dict[str, Any]] = [
        {"layer": layer, "masks": list(map(asdict, explorer.guesses(states, positions, top_k)))}
        for layer, states in enumerate(translate(trace.states[:, positions], tuned))
    ]
    target = word_target(trace, word, foil=foil)
    if target.foil is None:
        return {"layers": layers}
    differences = read_at(explorer, target, translate(trace.states[:, target.position], tuned)).logit.tolist()
    for row, difference in zip(layers, differences, strict=True):
        row["difference"] = difference
    return {"layers": layers, "position": target.position, "token": target.token, "foil": target.foil_token}


def head_effects(text: str, word: str = "", text_b: str = "", model: str = "", foil: str = "") -> dict[str, Any]:
    """The probability of the word when one head at a time is zero: one row per layer, one entry per head.

    With a `foil`, in its place the difference of logits, word minus foil.

    Returns:
        `position`, `token`, `baseline`, `probabilities` (one row per layer); with a foil `differences` in place of
        `probabilities`, `baseline` in the same unit, and `foil`.
    """
    explorer = load(model)
    trace = explorer.trace(text, text_b)
    target = word_target(trace, word, foil=foil)
    found = {
        "position": target.position,
        "token": target.token,
        "baseline": float(target.measure(read(explorer, target, trace.states[-1:]))),
    }
    run_while_wanted(prepare_head_effects(trace, target))
    effects = target.measure(head_readings(trace, target)).tolist()
    if target.foil is None:
        return {**found, "probabilities": effects}
    return {**found, "foil": target.foil_token, "differences": effects}


def switch_off(text: str, heads: list[list[int]], top_k: int = 5, text_b: str = "", model: str = "") -> dict[str, Any]:
    """The guesses for every [MASK] with these heads zero, each [layer, head] counted from 1.

    Returns:
        `masks` as of `/fill_mask`.
    """
    explorer = load(model)
    top_k = limits.check_integer(top_k, "top_k", 1, GUESSES.most)
    off = limits.head_indices(heads, explorer.capabilities.layers, explorer.capabilities.heads)
    trace = explorer.trace(text, text_b)
    positions = trace.blanks()
    return {"masks": list(map(asdict, explorer.guesses(Run(trace, off).states[-1, positions], positions, top_k)))}


def attribution(
    text: str,
    word: str = "",
    text_b: str = "",
    method: str = "integrated_gradients",
    steps: int = 50,
    model: str = "",
    foil: str = "",
    start: str = "pad",
) -> dict[str, Any]:
    """A score per token for the word's logit: method "integrated_gradients", "gradient_x_input" or "occlusion".

    With a `foil`, a score for the difference of logits, word minus foil. Integrated gradients `start` from a baseline: "pad" or
    "mask" at every piece that is not special, or "mean", the mean of the word table; delta, the error of their sum, is null for
    the other methods.

    Returns:
        `tokens`, `scores`, `delta`, `target`; with a foil also `foil` and `baseline` (the difference of logits for this input).
    """
    explorer = load(model)
    trace = explorer.trace(text, text_b)
    target = word_target(trace, word, foil=foil)
    found = attribute(trace, target, method, steps, limits.check_choice(start, "the start", BASELINES))
    delta = found.path.delta if found.path else None
    answer = {"tokens": list(trace.tokens), "scores": found.scores.tolist(), "delta": delta, "target": target.token}
    if target.foil is None:
        return answer
    return {**answer, "foil": target.foil_token, "baseline": float(read(explorer, target, trace.states[-1:]).logit)}


def pseudo_likelihood(texts: list[str], model: str = "", likelihood: str = WORD_L2R) -> dict[str, Any]:
    """The pseudo-log-likelihood of each text: natural logs, summed over its pieces, each masked in turn.

    likelihood: "word_l2r" masks each piece with the later pieces of its word (Kauf & Ivanova 2023), "original" alone (Salazar et
    al. 2020), which favours rare words of many pieces.

    Returns:
        `scores`.
    """
    return {"scores": run_while_wanted(pseudo_likelihoods_in_steps(load(model), texts, likelihood))}


ENDPOINTS = (fill_mask, lens, head_effects, switch_off, attribution, pseudo_likelihood)
