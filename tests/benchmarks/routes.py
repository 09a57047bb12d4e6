"""Routes: what they cost beside a forward pass, and how far they tell what a guess rests on, beside simpler methods."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

import explorer
from explorer.analysis.evaluation import spearman
from explorer.attention.rollout import rollout
from explorer.bert.explorer import Explorer
from explorer.bert.trace import Reading, Trace
from explorer.overview import endpoints
from explorer.overview.compute import Trust, trust
from explorer.techniques.ablation import Cut, changed_states
from explorer.techniques.attribution import gradient_x_input
from explorer.techniques.routes import Route, mixing, place_shares, routes
from explorer.techniques.targets import Target, read, word_target
from explorer.text.corpora import built_in
from tests.benchmarks import Comparison, side_by_side
from tests.benchmarks.base_model import base_model, text_of

SENTENCES, FEWEST, DRAWS = 200, 5, 10_000
OPEN = ("NOUN", "VERB", "ADJ", "PROPN", "ADV")  # the parts of speech of words that are worth guessing
NEAR = 0.1  # shares that differ by less are about equal
METHODS = ("routes", "attention of the last layer", "rollout", "gradient x input", "its size without the sign")


@dataclass(frozen=True)
class Mean:
    """The mean of `count` numbers with its 95% bootstrap interval, which means the same on every machine."""

    name: str
    what: str
    mean: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, name: str, what: str, values: list[float]) -> "Mean":
        """Of numbers, one a sentence."""
        row = np.array(values)
        drawn = row[np.random.default_rng(0).integers(0, len(row), (DRAWS, len(row)))].mean(1)
        return cls(name, what, float(row.mean()), *(float(edge) for edge in np.percentile(drawn, [2.5, 97.5])), len(row))

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.what} {self.mean:.3f} (95% interval {self.low:.3f} to {self.high:.3f}, {self.count} sentences)"
        )


def run() -> Iterator[Comparison | Mean]:
    """All of it."""
    yield from times()
    yield from correlations()
    yield from cuts()


def times() -> Iterator[Comparison]:
    """Opening the routes, another target, and a cut in the middle layer, beside a forward pass over the same."""
    text = " ".join(built_in().texts[-60:])  # of many words: its routes are not as alike as those of one sentence repeated
    for name, model in (("base", base_model()), ("bundled", explorer.load())):
        for tokens, rounds in ((17, 25), (512, 5)):
            trace = model.trace(text_of(17) if tokens == 17 else text)
            assert trace.kept == tokens
            yield from _times(f"routes-{name}-{tokens}", model, trace, rounds)


def _times(name: str, model: Explorer, trace: Trace, rounds: int) -> Iterator[Comparison]:
    """Each with nothing kept of the one before but what the pass keeps."""
    forward_pass, read = partial(Trace.of, model, trace.encoding), trace.reading

    def fresh() -> Trace:
        return Trace(model, Reading(read.encoding, read.states, read.heads))

    ours, theirs = side_by_side(lambda: opened(fresh(), 3), forward_pass, rounds)
    most = "at most 0.5 at 17 tokens and 1.5 at 512"
    yield Comparison(name, "opening", "one forward pass", ours, theirs, "s", most)
    ours, theirs = side_by_side(lambda: opened(trace, 5), forward_pass, rounds)
    yield Comparison(f"{name}-target", "another target", "one forward pass", ours, theirs, "s", "at most 0.1")
    places = iter(range(1, trace.kept))

    def cut() -> None:
        opened(trace, 3, ((len(model.layers) // 2, 3, next(places), None),))

    ours, theirs = side_by_side(cut, forward_pass, min(rounds, trace.kept - 2))
    yield Comparison(f"{name}-cut", "a cut, its run included", "one forward pass", ours, theirs, "s", "at most 0.75")
    ours, theirs = side_by_side(lambda: endpoints.answer(fresh(), 3, -1), forward_pass, rounds)
    yield Comparison(f"{name}-endpoint", "/routes, its own pass excluded", "one forward pass", ours, theirs, "s", "at most 1.5")
    size = len(json.dumps(endpoints.answer(trace, 3, -1)[0])) / 1e6
    yield Comparison(f"{name}-bytes", "the answer of /routes", "1 MB", size, 1, "MB", "at most 2")


def opened(trace: Trace, position: int, cuts: tuple[Cut, ...] = ()) -> list[Route]:
    """All that is computed of the routes to a place."""
    shares = mixing(trace, cuts=cuts).shares
    return routes(shares, place_shares(shares, position))


@dataclass(frozen=True)
class Hidden:
    """A sentence of the corpus with one word hidden, the guess there, and what it loses with each other word."""

    trace: Trace
    target: Target
    trust: Trust


@cache
def hidden_sentences() -> tuple[Hidden, ...]:
    """One word of an open class, of one piece, in sentences from all over the corpus, always the same ones."""
    model, draw = explorer.load(), np.random.default_rng(0)
    every = built_in().sentences
    found: list[Hidden] = []
    for at in draw.permutation(len(every)):
        sentence = every[at]
        words = [place for place, tag in enumerate(sentence.tags) if tag in OPEN]
        if not words:
            continue
        place = int(draw.choice(words))
        start, word = sentence.starts[place], sentence.words[place]
        if len(model.tokenizer.tokenize(word)) != 1:
            continue
        trace = model.trace(f"{sentence.text[:start]}[MASK]{sentence.text[start + len(word) :]}")
        if len(model.visible_positions(trace.encoding)) < FEWEST:
            continue
        target = word_target(trace)
        found.append(Hidden(trace, target, trust(trace, target)))
        if len(found) == SENTENCES:
            break
    return tuple(found)


def correlations() -> Iterator[Mean]:
    """Spearman's rank correlation of what a method gives each piece with what hiding it takes from the guess's probability.

    The same with its logit, and how much better routes do than each other method on the same sentences.
    """
    sentences = hidden_sentences()
    scores = {method: [_scores(method, one) for one in sentences] for method in METHODS}
    found = {}
    for loss in ("probability", "logit"):
        for method, rows in scores.items():
            losses = (one.trust.losses if loss == "probability" else one.trust.logit_losses for one in sentences)
            found[loss, method] = [spearman(row, lost) for row, lost in zip(rows, losses, strict=True)]
            yield Mean.of("routes-trust", f"{method}, correlation with the loss of {loss}", found[loss, method])
    for method in METHODS[1:]:
        more = np.subtract(found["probability", "routes"], found["probability", method]).tolist()
        yield Mean.of("routes-trust", f"routes less {method}", more)


def _scores(method: str, one: Hidden) -> np.ndarray:
    """What a method gives the pieces that were hidden."""
    trace, position, places = one.trace, one.target.position, list(one.trust.places)
    if method == "routes":
        return one.trust.shares
    if method in METHODS[3:]:
        scores = gradient_x_input(trace, one.target).scores[places]
        return scores if method == "gradient x input" else np.abs(scores)
    if method == "rollout":
        *_, whole = rollout(trace.attention(layer) for layer in range(len(trace.model.layers)))
        return whole[position, places]
    return trace.attention(-1).mean(0)[position, places]


def cuts() -> Iterator[Mean]:
    """What the guess's probability loses when the strongest ribbon into the blank is cut, and when another one is.

    The other is drawn among those between two different tokens that end elsewhere, of any layer but the last, where nothing
    that is cut elsewhere can reach the blank; its share of its own row is within 10% of the first's, or the nearest.
    """
    draw, drops, others = np.random.default_rng(0), [], []
    for one in hidden_sentences():
        shares = mixing(one.trace).shares
        position = one.target.position
        into = [
            step for step in routes(shares, place_shares(shares, position), shares.size, others=True) if step.query == position
        ]
        best = into[0]
        other = _about_equal(shares, float(shares[best.layer, best.query, best.key]), position, draw)
        drops.append(_drop(one, (best.layer, best.query, best.key, None)))
        others.append(_drop(one, (*other, None)))
    yield Mean.of("routes-cut", "probability lost, the strongest ribbon into the blank cut", drops)
    yield Mean.of("routes-cut", "probability lost, another of about equal share cut elsewhere", others)
    yield Mean.of("routes-cut", "the first less the second", np.subtract(drops, others).tolist())


def _about_equal(shares: np.ndarray, share: float, position: int, draw: np.random.Generator) -> tuple[int, int, int]:
    """(layer, query, key) of a ribbon elsewhere."""
    distance = np.abs(shares[:-1] / share - 1)
    distance[:, position] = np.inf
    distance[:, np.arange(shares.shape[1]), np.arange(shares.shape[1])] = np.inf
    near = np.argwhere(distance <= max(NEAR, float(distance.min())))
    layer, query, key = near[draw.integers(len(near))]
    return int(layer), int(query), int(key)


def _drop(one: Hidden, cut: Cut) -> float:
    """What the guess's probability loses by a cut."""
    before, after = (
        float(read(one.trace.model, one.target, states[-1:]).probability)
        for states in (one.trace.states, changed_states(one.trace, cuts=[cut]))
    )
    return before - after
