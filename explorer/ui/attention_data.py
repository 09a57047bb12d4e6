"""Attention for the views: arrays for a subject, of which small ones are cached with the trace."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from explorer.analysis.attention import rows_error
from explorer.analysis.head_metrics import (
    CLEAR,
    HABITS,
    METRICS,
    MIXED,
    SPREAD,
    HeadName,
    Overview,
    TokenFacts,
    everywhere,
    habit_share,
    head_name_of,
    overview,
    strongest_pairs,
)
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.techniques.ablation import head_readings, knows_head_effects, prepare_head_effects
from explorer.techniques.inside import value_error, value_norms
from explorer.techniques.targets import Target, read
from explorer.ui.answers import first_word
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.bars import SEEN, change_of
from explorer.ui.pictures.base import to_base64
from explorer.ui.pictures.numbers import Table
from explorer.ui.roles import telling_pairs, word_pairs
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import quote, stands_out
from explorer.ui.view import Why, max_error, verdict

ONE_HEAD, LAYER_MEAN, HEAD_MEAN, ALL_MEAN = (
    "this head",
    "mean of the layer's heads",
    "this head number, mean of all layers",
    "mean of all heads",
)
WEIGHT, VALUE = "weight", "weight × value"
FALL = 0.85  # largest share of its probability left to a word without a head that matters for it


def overview_of(subject: Subject) -> Overview:
    return _look(subject)[0]


def _look(subject: Subject) -> tuple[Overview, np.ndarray]:
    """The overview, and the strongest telling pair of each head: its weight, query and key [3, layers, heads]."""
    trace = subject.trace

    def make() -> tuple[Overview, np.ndarray]:
        allowed, pairs = telling_pairs(trace.encoding), []

        def layers() -> Iterator[np.ndarray]:
            for layer in range(subject.model.capabilities.layers):
                attention = trace.attention(layer)
                pairs.append(strongest_pairs(attention, allowed))
                yield attention

        seen = overview(layers(), TokenFacts.of(trace.encoding))
        return seen, np.stack(pairs, axis=1)

    return trace.once("overview", make)


def name_of(subject: Subject, place: tuple[int, int]) -> HeadName:
    """The plain name of a head (layer, head), zero-based; only the bundled model has an atlas."""
    bundled = subject.model.checkpoint.folder == BUNDLED_FOLDER
    return head_name_of(overview_of(subject), place, everywhere() if bundled else None)


def head_cards(subject: Subject) -> dict[str, Any]:
    """What the cards beside heads show: for all heads, layer by layer, their `names` and strongest links.

    A name comes with how sure it is and what the head does across the corpus. `keys` are the token that each of the `tokens`
    attends to most, uint16 [layers, heads, tokens], and `weights` that weight, in 255ths.
    """
    trace, has = subject.trace, subject.model.capabilities
    links = [(weights.argmax(-1), weights.max(-1)) for weights in map(trace.attention, range(has.layers))]
    keys, weights = (np.stack(each) for each in zip(*links, strict=True))
    names = (name_of(subject, place) for place in product(range(has.layers), range(has.heads)))
    return {
        "heads": has.heads,
        "tokens": list(trace.tokens),
        "names": [[head.name, head.sure, head.elsewhere] for head in names],
        "keys": to_base64(keys.astype("<u2")),
        "weights": to_base64(np.rint(255 * weights).astype(np.uint8)),
    }


def heads_table(seen: Overview) -> Table:
    places = [(layer, head) for layer in range(seen.patterns.shape[0]) for head in range(seen.patterns.shape[1])]
    numbers = {"strongest_weight": seen.strongest, **{metric.key: seen.metrics[metric.key] for metric in METRICS}}
    rows = [[layer + 1, head + 1, str(seen.patterns[layer, head])] for layer, head in places]
    for row, place in zip(rows, places, strict=True):
        row += [float(values[place]) for values in numbers.values()]
    return Table.of(("layer", "head", "pattern", *numbers), rows)


@dataclass(frozen=True)
class Telling:
    """The most telling fact about a head (zero-based): its effect on the first guess, its habit, or what one word attends to.

    `query` and `key` are the tokens of its strongest weight, None if there is only one token.
    """

    layer: int
    head: int
    query: int | None = None
    key: int | None = None
    weight: float = 0
    word: str = ""  # the first guess for the blank if the head matters for it, with its probability
    before: float = 0  # with the head
    after: float = 0  # without it
    habit: str = ""  # what it does for all tokens, if that says more than the key
    names_a_key: bool = False  # whether the sentence names the key

    @property
    def selection(self) -> dict[str, int]:
        """The head, counted from 1, and the query, as a selection of the page."""
        chosen = {"layer": self.layer + 1, "head": self.head + 1}
        return chosen if self.query is None else {**chosen, "token": self.query}


def _habit(subject: Subject, place: tuple[int, int], query: int, key: int, weight: float) -> str:
    """What the head (layer, head) does for all tokens, '' if its strongest telling weight says more."""
    seen, (layer, head), ids = overview_of(subject), place, subject.trace.ids
    pattern = str(seen.patterns[layer, head])
    habit = HABITS[pattern]
    explained = key - query in habit.offsets or (pattern == "same token" and ids[query] == ids[key])
    if not explained and (weight >= CLEAR or (pattern == MIXED and stands_out(weight, 1 / len(ids)))):
        return ""
    if habit.metrics:
        return f"{habit.does}: {habit_share(habit, seen.metrics, place):.2f} of its weight on average"
    if pattern == SPREAD:
        entropy = seen.metrics["entropy"][layer, head]
        return f"spreads its weight almost evenly over the {subject.trace.kept} tokens (entropy {entropy:.2f} of at most 1)"
    return "has no clear pattern here, and no weight between two words stands out"


def _first_guess(subject: Subject) -> Target | None:
    """The first guess for the blank; None without a blank, or if the effects of all heads are not quickly found."""
    model = subject.model.capabilities
    passes = model.layers * model.heads / 3  # one head takes less than half of the layers on average
    if not (model.fill_mask and subject.trace.mask_positions and is_quick(subject, 4 * passes)):  # within a quarter of a second
        return None
    return first_word(subject.trace, subject.blank)


def effects_of(subject: Subject) -> tuple[Target, float, np.ndarray] | None:
    """The first guess, its probability, and that without each head [layers, heads]; None if not quickly found."""
    trace, target = subject.trace, _first_guess(subject)
    if target is None:
        return None
    before = trace.once(("first word's share", target), lambda: read(trace.model, target, trace.states[-1:]).probability)
    return target, float(before), target.measure(head_readings(trace, target)).numpy()


def prepare_effects(subject: Subject) -> Generator[float, None, None]:
    """Compute and cache the result of `effects_of`; yields the share done."""
    if (target := _first_guess(subject)) is not None:
        yield from prepare_head_effects(subject.trace, target)


def tell_quickly(subject: Subject) -> Telling | None:
    """`telling_of`; None, and a note in `subject.later`, if it takes too long for an immediate answer."""
    if subject.later is not None:
        target = _first_guess(subject)
        if target is not None and not knows_head_effects(subject.trace, target):
            subject.later.add("head effects")
            return None
    return find_telling(subject)


def find_telling(subject: Subject) -> Telling:
    """The most telling fact about the selected head if it was picked, else about the most telling head for this input.

    That is the head without which the first guess loses most; else the one whose pronoun attends most strongly to a preceding
    word, or the one with the strongest weight between two words that are not neighbours.
    """
    chosen = (subject.selection.attention_layer, subject.selection.head_index) if subject.chosen.picked else None
    blank = subject.blank if subject.trace.mask_positions else None
    return subject.trace.once(("telling", chosen, blank), lambda: _find_telling(subject, chosen))


def _find_telling(subject: Subject, chosen: tuple[int, int] | None) -> Telling:
    """The most telling fact about the `chosen` head (layer, head), zero-based, or of all heads."""
    found = effects_of(subject)
    if found is not None:
        target, before, without = found
        layer, head = chosen or _place(int(without.argmin()), without)
        after = float(without[layer, head])
        if abs(after - before) >= SEEN if chosen else after <= FALL * before - SEEN:
            key, weight = _find_other(subject, layer, head, target.position)
            of_places = key is not None and bool(HABITS[str(overview_of(subject).patterns[layer, head])].offsets)
            habit = _habit(subject, (layer, head), target.position, key or 0, weight) if of_places else ""
            clear = weight >= CLEAR and not habit
            return Telling(layer, head, target.position, key, weight, target.token, before, after, habit, clear)
    if chosen:
        layer, head = chosen
        allowed = subject.trace.once("telling pairs", lambda: telling_pairs(subject.trace.encoding, pronouns=False))
        (weight,), (query,), (key,) = strongest_pairs(subject.trace.attention(layer)[[head]], allowed)
    else:
        weights, queries, keys = _look(subject)[1]
        layer, head = _place(int(weights.argmax()), weights)
        weight, query, key = (values[layer, head] for values in (weights, queries, keys))
    if weight <= 0:
        return Telling(layer, head)
    if not stands_out(float(weight), 1 / subject.trace.kept) and overview_of(subject).patterns[layer, head] == MIXED:
        anywhere = word_pairs(subject.trace.encoding)  # neighbours and function words too, before it says that none stands out
        (weight,), (query,), (key,) = strongest_pairs(subject.trace.attention(layer)[[head]], anywhere)
    pair = int(query), int(key), float(weight)
    habit = _habit(subject, (layer, head), *pair)
    return Telling(layer, head, *pair, habit=habit, names_a_key=not habit)


def _place(index: int, array: np.ndarray) -> tuple[int, int]:
    layer, head = np.unravel_index(index, array.shape)
    return int(layer), int(head)


def _find_other(subject: Subject, layer: int, head: int, query: int) -> tuple[int | None, float]:
    """The other token of the texts that a token attends to most, and the weight; None for a single token."""
    others = [token for token in subject.trace.encoding.text_positions if token != query]
    if not others:
        return None, 0.0
    row = subject.trace.attention(layer)[head, query]
    key = others[int(row[others].argmax())]
    return key, float(row[key])


def head_sentence(subject: Subject, found: Telling) -> str:
    where, tokens = head_name((found.layer, found.head)), subject.trace.tokens
    if (found.query is None or found.key is None) and not found.word:
        encoding = subject.trace.encoding
        added = (token for token, side in zip(encoding.tokens, encoding.sequences, strict=True) if side < 0)
        named = " and ".join(dict.fromkeys(added))
        return f"A single token: besides {named or 'itself'} a head has nothing to attend to."
    change = found.word and change_of(found.word, found.before, found.after)
    if found.habit:
        return f"{where.capitalize()} {found.habit}{change and f'; without it, {change}'}."
    if found.names_a_key and found.query is not None and found.key is not None:
        query, key = quote(tokens, found.query), quote(tokens, found.key)
        if not change:
            return f"In {where}, {query} looks at {key} with a weight of {found.weight:.2f}."
        return f"{where.capitalize()} looks from {query} to {key} with a weight of {found.weight:.2f}; without it, {change}."
    return f"Without {where}, {change}."


def show_switched_off(found: Telling) -> Why:
    """Where the effect of switching a head off is shown."""
    off = ((found.layer, found.head),)
    return Why("fill-mask", "Switch heads off", {**found.selection, "off": off}, {"word": ""})


def most_telling_first(subject: Subject) -> Subject:
    """The subject with the most telling layer and head, unless they were picked.

    The selection stays if an immediate answer is wanted and they are not known yet.
    """
    if subject.chosen.picked or (found := tell_quickly(subject)) is None:
        return subject
    return subject.select(layer=found.layer + 1, head=found.head + 1, picked=False)


def weights_of(subject: Subject, average: str = ONE_HEAD, measure: str = WEIGHT) -> np.ndarray:
    """[query, key] weights of the selected head, or the mean over heads, layers or both."""
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    layers = range(subject.model.capabilities.layers) if average in (HEAD_MEAN, ALL_MEAN) else [layer]
    heads = slice(None) if average in (LAYER_MEAN, ALL_MEAN) else slice(head, head + 1)
    total = np.zeros((subject.trace.kept, subject.trace.kept), dtype=np.float32)
    for index in layers:
        chosen = subject.trace.attention(index)[heads]
        if measure == VALUE:
            chosen = chosen * value_norms(subject.trace, index)[heads, None, :]
        total += chosen.mean(axis=0)
    return total / len(layers)


def attention_check(subject: Subject, measure: str = WEIGHT) -> dict[str, str]:
    """A check that the weights shown are those that the model used."""
    trace, layer = subject.trace, subject.selection.attention_layer

    def errors() -> tuple[float, float]:
        return rows_error(trace.attention(layer)), trace.attention_error(layer)

    rows, output = trace.once(("check", layer), errors)
    proofs = [
        f"rows sum to 1 ({max_error(rows)})",
        f"these weights give the model's own output of layer {layer + 1} ({max_error(output)})",
    ]
    fine = rows < 1e-5 and output < 1e-4
    if measure == VALUE:
        error = trace.once(("values", layer), lambda: value_error(trace, layer))
        proofs.append(f"the weighted values of all heads sum to what the layer's attention adds ({max_error(error)})")
        fine = fine and error < 1e-4
    return verdict(fine, "; ".join(proofs))
