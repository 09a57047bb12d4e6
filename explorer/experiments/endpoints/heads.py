"""One question asked of many items."""

from typing import Any

from explorer.api.arguments import explorer_for
from explorer.api.callers import while_wanted
from explorer.experiments.compute.experiment import experiment_in_steps


def experiment(
    items: list[list[str]], question: str = "heads_off", how: str = "", seed: int = 0, model: str = "", target: str = "word"
) -> dict[str, Any]:
    """One question asked of many items: a mean for every place, and how sure it is.

    An item is [text_a, text_b, word, foil], each word one piece of the vocabulary; "" is the model's first guess for the
    word, and its best other guess for the foil. Words of a text may be marked, *key*, and have a counterpart, *key/keys*,
    which makes the changed text. What is measured is the logit of the word less that of the foil at the first blank; with
    `target` "next_sentence" IsNext against NotNext, with "label" two labels of a fine-tuned head. `how` "" is the first of:

    - "heads_off": what switching off each head changes, without minus with, as in /head_effects: negative where the head
      helps the word. "zero", "mean" (over all tokens of all items) or "resample" (that of another item, by lot) replaces its
      output before W_O. [layer][head].
    - "patching": which share of the difference between an item and its changed text comes back when a part of the item's own
      run is put into that of the changed text: "residual" [hidden state][changed words, other words, token read], "heads"
      [layer][head], "mlp" [layer][as for residual].
    - "lens": that difference read from each hidden state, by the "raw" or the "tuned" lens. [hidden state].
    - "attention": the weight from the first marked word to the second, or from the blank to the only one ("forward"), or the
      other way round ("backward"), beside `nulls`, the weight on any other word. [layer][head].
    - "cut": what setting that weight to zero changes in each head, without minus with, beside `nulls`, the same for another
      word drawn by lot. [layer][head].
    - "routes": the share of the last vector of the token read that comes from the first marked word ("mixing": ALTI), beside
      `nulls`, that of any other word. [hidden state].
    - "attribution": the share of items in which a method gives the marked word the highest score, for word minus "foil" or for
      the "word" alone, beside `nulls`, that of a word drawn by lot. [method].
    - "likelihood": the log-likelihood of the text with the word less that with the foil, in nats, each piece hidden in turn
      ("pseudo_likelihood"). [the blank, the other pieces, all pieces].

    The interval is a 95 % bootstrap over items, `p` a sign-flip test over items, and `q` that after Benjamini-Hochberg over
    all places. `selected` is the place that one half of the items chooses, drawn by the seed: the lowest mean of heads_off and
    cut, the state at which the token read recovers half, the state from which on the word stays ahead, else the highest.
    `held_out` is what it does on the other half, where `rank` 1 is the most telling place and `random` the mean of all, or of
    the null.

    Returns:
        `effects`, `low`, `high`, `p`, `q`, `nulls` of some questions, `places` (the labels of both directions), `random` (the
        mean of a random place, or of the null), `selected` ([layer, head] from 1, hidden states from 0), `held_out`: `effect`,
        `low`, `high`, `rank`, `p`, `random` (with `random_low`, `random_high`), `baseline`, `items`; `baseline` (the mean
        difference of the unchanged run), `items` (how many), `left_out` (why not the others, by number), `provenance`:
        question, `how`, `seed`, model, hash of its weights, `dtype`, versions.
    """
    return while_wanted(experiment_in_steps(explorer_for(model), items, question, how, seed, target)).as_dict()


ENDPOINTS = (experiment,)
