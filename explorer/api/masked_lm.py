"""Endpoints for the masked-LM head: its guesses layer by layer, and the heads and tokens on which they depend.

`word` is one piece of the vocabulary, predicted at the first [MASK]; "" is the model's own first guess there.
"""

from typing import Any

from explorer.api.arguments import explorer_for, masks_of
from explorer.api.callers import while_wanted
from explorer.base.limits import GUESSES
from explorer.techniques.ablation import head_effects_in_steps, intervene
from explorer.techniques.attribution import attribute
from explorer.techniques.pseudo_likelihood import pseudo_likelihoods_in_steps
from explorer.techniques.targets import read, word_target
from explorer.text import limits


def lens(text: str, text_b: str = "", top_k: int = 5, model: str = "") -> dict[str, Any]:
    """The guesses for every [MASK] after each layer, with the head applied there; 0 is the embedding output.

    Returns:
        `layers`: `layer` (0 to the last), `masks` as of `/fill_mask`.
    """
    explorer = explorer_for(model)
    top_k = limits.check_integer(top_k, "top_k", 1, GUESSES.most)
    trace = explorer.trace(text, text_b)
    positions = trace.blanks()
    return {
        "layers": [
            {"layer": layer, "masks": masks_of(explorer.guesses(states[positions], positions, top_k))}
            for layer, states in enumerate(trace.states)
        ]
    }


def head_effects(text: str, word: str = "", text_b: str = "", model: str = "") -> dict[str, Any]:
    """The probability of the word when one head at a time is zero: one row per layer, one entry per head.

    Returns:
        `position`, `token`, `baseline`, `probabilities` (a row a layer).
    """
    explorer = explorer_for(model)
    trace = explorer.trace(text, text_b)
    target = word_target(trace, word)
    return {
        "position": target.position,
        "token": target.token,
        "baseline": float(read(explorer, target, trace.states[-1:]).probability),
        "probabilities": while_wanted(head_effects_in_steps(trace, target)).tolist(),
    }


def switch_off(text: str, heads: list[list[int]], top_k: int = 5, text_b: str = "", model: str = "") -> dict[str, Any]:
    """The guesses for every [MASK] with these heads zero, each [layer, head] counted from 1.

    Returns:
        `masks` as of `/fill_mask`.
    """
    explorer = explorer_for(model)
    top_k = limits.check_integer(top_k, "top_k", 1, GUESSES.most)
    off = limits.head_indices(heads, explorer.capabilities.layers, explorer.capabilities.heads)
    trace = explorer.trace(text, text_b)
    positions = trace.blanks()
    return {"masks": masks_of(explorer.guesses(intervene(trace, off)[positions], positions, top_k))}


def attribution(
    text: str, word: str = "", text_b: str = "", method: str = "integrated_gradients", steps: int = 50, model: str = ""
) -> dict[str, Any]:
    """A score per token for the word's logit: method "integrated_gradients", "gradient_x_input" or "occlusion".

    The baseline of integrated gradients is [PAD] at every piece that is not special; delta, the error of their sum,
    is null for the other methods.

    Returns:
        `tokens`, `scores`, `delta`, `target`.
    """
    explorer = explorer_for(model)
    trace = explorer.trace(text, text_b)
    target = word_target(trace, word)
    found = attribute(trace, target, method, steps)
    delta = found.path.delta if found.path else None
    return {"tokens": list(trace.tokens), "scores": found.scores.tolist(), "delta": delta, "target": target.token}


def pseudo_likelihood(texts: list[str], model: str = "") -> dict[str, Any]:
    """The pseudo-log-likelihood of each text: natural logs, summed over its pieces, each masked in turn.

    Returns:
        `scores`.
    """
    return {"scores": while_wanted(pseudo_likelihoods_in_steps(explorer_for(model), texts))}


ENDPOINTS = (lens, head_effects, switch_off, attribution, pseudo_likelihood)
