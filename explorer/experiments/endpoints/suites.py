"""Our own test suites of minimal pairs."""

from typing import Any

from explorer.api.callers import run_while_wanted
from explorer.bert.explorer import load
from explorer.experiments.compute import suites
from explorer.experiments.compute.experiment import without_nan
from explorer.experiments.compute.minimal_pairs import ALL, ALONE, LIKELIHOOD, judge_in_steps, way_of
from explorer.techniques.pseudo_likelihood import LIKELIHOODS, ORIGINAL, WORD_L2R
from explorer.text import limits


def suite(name: str, model: str = "", way: str = "", likelihood: str = WORD_L2R) -> dict[str, Any]:
    """In how many minimal pairs of one of our suites the model prefers the word that belongs in the blank to its foil.

    name: "agreement", "pronouns", "negation", "prepositions", "stereotypes" or "facts". way: "blank" compares both logits at the
    blank, "pseudo_likelihood" both sentences, and of stereotypes the pieces that both share (Nangia et al. 2020); "" is
    pseudo-likelihood for stereotypes, the blank for the rest. likelihood: "word_l2r" hides each piece with the later pieces of
    its word (Kauf & Ivanova 2023), "original" alone (Salazar et al. 2020), which favours rare words of many pieces. In
    stereotypes the "right" word is the one that fits the stereotype: 0.5 means no preference, and no proof of fairness. low,
    high: the 95% interval (Wilson 1927) by frame: pairs that share half of their words, or the marked words, are one observation;
    null below 6 frames.

    Returns:
        `items` (pairs that were scored), `right` (the share in which the word wins, 0 to 1), `low`, `high`; `kinds` (the same by
        kind), `way`, `instead` (pairs scored by pseudo-likelihood since a word is not one piece), `left_out` (pairs whose words
        the tokenizer does not distinguish).
    """
    chosen = suites.suite_of(name)
    limits.check_choice(likelihood, "the likelihood", LIKELIHOODS)
    way = ALONE if likelihood == ORIGINAL and way_of(chosen, way) == LIKELIHOOD else way
    found = run_while_wanted(judge_in_steps(load(model), chosen, way))
    kinds = {kind: {name: without_nan(value) for name, value in share._asdict().items()} for kind, share in found.shares.items()}
    return {
        **kinds.pop(ALL),
        "kinds": kinds,
        "way": found.way,
        "instead": sum(judged.way != found.way for judged in found.judged),
        "left_out": len(found.left_out),
    }


ENDPOINTS = (suite,)
