"""One question asked of many items, and our own test suites of minimal pairs."""

from typing import Any

from explorer.api.callers import run_while_wanted
from explorer.bert.explorer import load
from explorer.experiments.compute.experiment import experiment_in_steps, without_nan
from explorer.experiments.compute.minimal_pairs import ALL, LIKELIHOOD, judge_in_steps, suite_of, way_of
from explorer.experiments.compute.runs import over_checkpoints_in_steps
from explorer.techniques.pseudo_likelihood import LIKELIHOODS, ORIGINAL, WORD_L2R
from explorer.text import limits


def experiment(
    items: list[list[str]],
    question: str = "heads_off",
    how: str = "",
    seed: int = 0,
    model: str = "",
    target: str = "word",
    groups: list[str] | None = None,
    models: list[str] | None = None,
) -> dict[str, Any]:
    """One question asked of many items: a mean for every place, and how sure it is.

    An item is [text_a, text_b, word, foil], each word one piece of the vocabulary; "" is the model's first guess for the
    word, and its best other guess for the foil. Words of a text may be marked, *key*, and have a counterpart, *key/keys*,
    which makes the changed text. What is measured is the logit of the word less that of the foil at the first blank; with
    `target` "next_sentence" IsNext against NotNext, with "label" two labels of a fine-tuned head. `question` and `how` are
    those of the guide's page on the API; "" is the first way. `groups` has a name per item: items of one group are similar, and
    inference treats them as one observation. By default items with the same texts are one group; repeated items count once.

    `low` and `high` are the 95% interval (studentized bootstrap over groups; null below 6 groups), `p` the larger p value of
    a sign-flip test and that bootstrap, both by group, and `q` that after Benjamini-Hochberg over all places. `selected` is
    the place that one half of the groups chooses, drawn by the seed: the lowest mean of heads_off, cut and erase, of
    direction at dose 1, the state at which the token read recovers half, the state from which on the word stays ahead, else the
    highest. `held_out` is what it does on the other half, where `rank` 1 is the most telling place and `random` the mean of all,
    or of the null.

    `models` names several checkpoints of one size: the answer is that of the first, and `checkpoints` has the means of each with
    Student's interval and q over checkpoints, from three on, and the place that each selected.

    Returns:
        `effects`, `low`, `high`, `p`, `q`, of some questions `nulls` and more, `places` (the labels of each direction), `random`
        (the mean of a random place, or of the null), `selected` ([layer, head] from 1, hidden states from 0), `held_out`:
        `effect`, `low`, `high`, `rank`, `p`, `random` (with `random_low`, `random_high`), `baseline`, `items`, `groups`;
        `baseline` (the mean difference of the unchanged run), `items` and `groups` (how many), `held_out_groups`, `left_out` (why
        not the others, by number), `provenance`: question, `how`, `seed`, model, hash of its weights, `dtype`, versions.
    """
    asked = items, question, how, seed, target, groups or ()
    if not models:
        return run_while_wanted(experiment_in_steps(load(model), *asked)).as_dict()
    found = run_while_wanted(over_checkpoints_in_steps(models, *asked))
    return found.runs[0].as_dict() | {"checkpoints": found.as_dict()}


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
        `items` (pairs that were scored), `groups` (their frames), `right` (the share in which the word wins, 0 to 1), `low`,
        `high`; `kinds` (the same by kind), `way`, `left_out` (pairs whose words are not one piece each), `instead` (0).
    """
    chosen = suite_of(name)
    limits.check_choice(likelihood, "the likelihood", LIKELIHOODS)
    way = ORIGINAL if likelihood == ORIGINAL and way_of(chosen, way) == LIKELIHOOD else way
    found = run_while_wanted(judge_in_steps(load(model), chosen, way))
    kinds = {kind: {name: without_nan(value) for name, value in share._asdict().items()} for kind, share in found.shares.items()}
    return {**kinds.pop(ALL), "kinds": kinds, "way": found.way, "instead": 0, "left_out": found.left_out}


ENDPOINTS = (experiment, suite)
