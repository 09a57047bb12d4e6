"""The picture as a story: seven steps from the pieces to the answer, each a sentence of computed numbers."""

from collections.abc import Sequence

import numpy as np

from explorer.overview.compute import Run, turned
from explorer.overview.pictures import Answer, Rows, Stop
from explorer.overview.run import Followed, Words
from explorer.overview.zoom import Zoom, strongest_head
from explorer.techniques.inside import embedding_parts
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import Subject
from explorer.ui.telling import quote


def stops_of(
    subject: Subject, run: Run, followed: Followed, words: Words | None, rows: Rows, answers: Sequence[Answer]
) -> list[Stop]:
    """The steps, about the selected token: the zoom opens in the layer in which it takes most from another token."""
    position = followed.position
    token, row = quote(run.trace.tokens, position), rows.of(position)
    link = next((route for route in followed.taken if route.query == position), None)
    layer = link.layer if link else len(run.states) - 2
    way: list[Zoom] = [(layer + 1,)]
    if link and link.key in rows.places:
        head = strongest_head(run, link)
        way += [(layer + 1, head), (layer + 1, head, link.key)]
    return [
        ("read", _pieces(subject, run), ()),
        ("embed", _sum(run, position, token), ()),
        ("attend", _attend(run, layer, position, token), way),
        ("transform", _transform(run, layer, position, token), way[:1]),
        ("repeat", _again(run, token, words, row), ()),
        ("guess", _guess(run, token, words, row), ()),
        ("judge", _pair(answers), ()),
    ]


def _pieces(subject: Subject, run: Run) -> str:
    model, encoding = subject.model, run.trace.encoding
    added = sum(side < 0 for side in encoding.sequences)
    names = ", ".join(dict.fromkeys(token for token, side in zip(encoding.tokens, encoding.sequences, strict=True) if side < 0))
    with_added = f"; {added} of them ({names}) were added" if added else ""
    return (
        f"The model knows {model.capabilities.vocab_size:,} pieces of words. Here it reads {encoding.kept} of them, one per row"
        f"{with_added}."
    )


def _sum(run: Run, position: int, token: str) -> str:
    parts = embedding_parts(run.trace).added
    lengths = ", ".join(f"{name} {np.linalg.norm(part[position]):.2f}" for name, part in parts.items())
    size = run.states.shape[-1]
    if len(parts) == 1:
        return f"Each piece becomes {size} numbers: its own vector ({token}: length {lengths.split()[-1]}), normalised."
    return f"Each piece becomes {size} numbers: a sum of {len(parts)} vectors, normalised. Their lengths for {token}: {lengths}."


def _attend(run: Run, layer: int, position: int, token: str) -> str:
    shares, heads = run.mixed.shares[layer, position], run.trace.model.capabilities.heads
    others = [place for place in range(len(shares)) if place != position]
    own = whole_percent(float(shares[position]))
    kept = f"In layer {layer + 1}, {heads} heads let every token take something from all others: {token} keeps {own} of itself"
    if not others:
        return f"{kept}; it is the only one."
    most = max(others, key=lambda place: shares[place])
    return f"{kept} and takes most from {quote(run.trace.tokens, most)} ({whole_percent(shares[most])})."


def _transform(run: Run, layer: int, position: int, token: str) -> str:
    neurons = run.trace.model.capabilities.neurons
    after = f"After both, the vector of {token} has turned by {turned(run)[layer + 1, position]:.2f} (1 − cosine, 0 to 2)."
    return f"Then {neurons:,} neurons of layer {layer + 1} work on each token separately. {after}"


def _again(run: Run, token: str, words: Words | None, row: int) -> str:
    layers = run.trace.model.capabilities.layers
    if words is None:
        return f"{layers} layers do both, each in turn."
    seen = [states[row][0][0] for states in words]
    changes = [(state, word) for state, word in enumerate(seen) if state and word != seen[state - 1]]
    told = ", ".join(f"“{word}” after layer {state}" for state, word in changes[-3:])
    there = f" At {token} one would read {told}." if told else f" At {token} one would read “{seen[-1]}” all along."
    read = "A box shows what would be guessed if its layer were the last."
    return f"{layers} layers do both, each in turn. {read}{there}"


def _guess(run: Run, token: str, words: Words | None, row: int) -> str:
    if words is None:
        return f"{run.trace.model.why_not('fill_mask')} A box shows how far the vector turned in that layer."
    (first, share), *others = words[-1][row]
    then = f", then “{others[0][0]}” with {whole_percent(others[0][1])}" if others else ""
    return f"From the last vector of {token}, the masked-LM head reads “{first}” with {whole_percent(share)}{then}."


def _pair(answers: Sequence[Answer]) -> str:
    pair = next((answer for answer in answers if answer.pair), None)
    if pair is None:
        return "That is asked of two sentences: type one in B, for a model that has a head for pairs."
    name, share, _ = max(pair.bars, key=lambda bar: bar[1])
    return f"From the last vector of [CLS], the head for pairs reads {name} with {whole_percent(share)}."
