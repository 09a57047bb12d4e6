"""One question asked of many items."""

from typing import Any

from explorer.api.arguments import explorer_for
from explorer.api.callers import while_wanted
from explorer.experiments.compute.heads import experiment_in_steps


def experiment(
    items: list[list[str]], question: str = "heads_off", how: str = "zero", seed: int = 0, model: str = ""
) -> dict[str, Any]:
    """What switching off each head does in many items to the logit difference of two words, word minus foil, at the first blank.

    An item is [text_a, text_b, word, foil], each word one piece of the vocabulary; "" is the model's first guess for the word,
    and its best other guess for the foil. An effect is the difference without the head minus that with it, as in /head_effects
    without minus baseline: negative where the head helps the word. `how` says what replaces the head's output
    before W_O: "zero", "mean" (its mean over all tokens of all items) or "resample" (that of another item, by lot). Arrays are
    [layer][head]. The interval is a 95 % bootstrap over items, `p` a sign-flip test over items, and `q` that after
    Benjamini-Hochberg over all heads. `selected` is the head with the lowest mean on one half of the items, drawn by the seed,
    and `held_out` what it does on the other, where `rank` 1 is the lowest and `random` the mean of all heads.

    Returns:
        `effects`, `low`, `high`, `p`, `q`, `random` (the mean of a random head), `selected` ([layer, head] from 1), `held_out`:
        `effect`, `low`, `high`, `rank`, `p`, `random` (with `random_low`, `random_high`), `baseline`, `items`; `baseline` (the
        mean difference with all heads), `items` (how many), `provenance`: question, `how`, `seed`, model, hash of its weights,
        `dtype`, versions.
    """
    return while_wanted(experiment_in_steps(explorer_for(model), items, question, how, seed)).as_dict()


ENDPOINTS = (experiment,)
