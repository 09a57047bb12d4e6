"""The edits of the selected run: a vector patched in, a direction added, a path; how they are checked, made and named."""

from __future__ import annotations

from typing import Any, NamedTuple

from explorer.bert.explorer import Explorer
from explorer.bert.trace import Trace
from explorer.core.errors import InputError
from explorer.techniques.ablation import Edit, Run
from explorer.techniques.directions import find_direction
from explorer.techniques.edits import PARTS, Along, Move
from explorer.text import limits
from explorer.ui.subject import Moved, Path, Subject
from explorer.ui.telling import quote

_PAIRS = (("he", "she"), ("is", "are"), ("is", "was"), ("good", "bad"), ("always", "never"))
WAYS = [[*way] for pair in _PAIRS for way in (pair, pair[::-1])]
"""The words from which and to which a vector can be moved: pairs that the corpus has often enough."""
STRONGEST = 3.0  # times the distance between both words
NOT_A_MOVE = 'Send a hidden state, a token, two words and a strength, such as [3, 1, "he", "she", 1.5].'
NOT_A_PATH = 'Send who sends and who reads it, such as [[3, 2], [6, 6, "query"]]: heads, a link or a vector.'


def edits_of(subject: Subject, run: Trace, before: Trace, at_random: bool = False) -> tuple[Edit, ...]:
    """The selected edits of `run`; `before` is the same without the swap. Raises InputError for words without a direction.

    With `at_random` a vector is moved as far in a random direction instead.
    """
    chosen, found = subject.selection, list[Edit]()
    if chosen.patch:
        found.append(Move.patch(*chosen.patch, before))
    if chosen.move:
        found.append(_move(subject.model, chosen.move, at_random))
    if chosen.path:
        sender, receiver = chosen.path
        source = before if chosen.swap else None
        found.append(Along(*receiver, sender, Run(run, chosen.off, chosen.cut, tuple(found)), source))
    return tuple(found)


def _move(model: Explorer, moved: Moved, at_random: bool) -> Move:
    state, token, word, other, strength = moved
    direction = find_direction(model, word, other)
    vectors = direction.random if at_random else direction.vectors
    return Move(state, token, (word, other, strength, at_random), strength * vectors[state])


def check_move(value: Any, subject: Subject) -> Moved | None:
    """The hidden state, token, word, other word and strength that were sent; None at strength 0. Raises ExplorerError."""
    if not isinstance(value, list | tuple) or len(value) != 5 or list(value[2:4]) not in WAYS:
        raise InputError(NOT_A_MOVE)
    state = limits.check_integer(value[0], "the hidden state", 0, subject.model.capabilities.layers)
    token = limits.check_integer(value[1], "the token", 0, subject.trace.kept - 1)
    strength = limits.check_number(value[4], "the strength", 0, STRONGEST)
    find_direction(subject.model, *value[2:4])
    return (state, token, *value[2:4], strength) if strength else None


def check_path(value: Any, subject: Subject) -> Path:
    """The sender [layer, head] or [layer, query, key], and the receiver [layer, head, part] or [state, token], from 1.

    Tokens and hidden states count from 0. Raises InputError unless the receiver can get something from the sender.
    """
    lists = isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(one, list | tuple) for one in value)
    if not lists or {len(one) for one in value} - {2, 3}:
        raise InputError(NOT_A_PATH)
    (layer, *at), (to, place, *part) = value
    has, last = subject.model.capabilities, subject.trace.kept - 1
    sender = limits.check_integer(layer, "the layer that sends", 1, has.layers) - 1
    is_link = len(at) == 2
    places = [limits.check_integer(one, "the token", 0, last) if is_link else limits.head_index(one, has.heads) for one in at]
    if not part:
        state = limits.check_integer(to, "the hidden state that receives", sender + 1, has.layers)
        token = limits.check_integer(place, "the token", 0, last)
        if is_link and token != places[0]:
            name = subject.trace.tokens[places[0]]
            raise InputError(f"A line ends at “{name}”, and no later head carries it on. Choose a box of “{name}”, or a head.")
        return (sender, *places), (state, token, "")
    if sender + 1 == has.layers:
        raise InputError("No head reads what the last layer sends. Choose an earlier layer, or a box at the end.")
    limits.check_choice(part[0], "the part", PARTS)
    layer = limits.check_integer(to, "the layer that receives", sender + 2, has.layers) - 1
    return (sender, *places), (layer, limits.head_index(place, has.heads), part[0])


class Named(NamedTuple):
    """An edit: the field of the selection, a short label, and a phrase that begins a sentence."""

    field: str
    label: str
    phrase: str


def edit_names(subject: Subject) -> list[Named]:
    """The selected edits in words."""
    chosen, tokens, found = subject.selection, subject.trace.tokens, list[Named]()
    if chosen.patch:
        state, token = chosen.patch
        label = f"the vector of {tokens[token]} (token {token}) at hidden state {state}"
        found.append(Named("patch", label, f"with {label} from the run before"))
    if chosen.move:
        state, token, word, other, strength = chosen.move
        way = f"{strength:.1f} × ({other} − {word})"
        found.append(
            Named("move", f"{way} at {tokens[token]}", f"with {way} added to {quote(tokens, token)} after layer {state}")
        )
    if chosen.path:
        (layer, *at), (to, place, part) = chosen.path
        sender = f"head {layer + 1}.{at[0] + 1}" if len(at) == 1 else f"{tokens[at[1]]} → {tokens[at[0]]} in layer {layer + 1}"
        receiver = f"head {to + 1}.{place + 1}'s {part}" if part else f"{quote(tokens, place)} after layer {to}"
        short = receiver.removeprefix("head ") if part else f"{tokens[place]}, layer {to}"
        phrase = f"{f'with {sender} as before' if chosen.swap else f'without {sender}'}, only through {receiver}"
        found.append(Named("path", f"{sender} through {short}", phrase))
    return found


def edits_from_one(subject: Subject) -> dict[str, Any]:
    """The selected move and path as `check_move` and `check_path` read them."""
    chosen, found = subject.selection, dict[str, Any]()
    if chosen.move:
        found["move"] = list(chosen.move)
    if chosen.path:
        (layer, *at), (to, place, part) = chosen.path
        sender = [layer + 1, *(at if len(at) == 2 else [at[0] + 1])]
        found["path"] = [sender, [to + 1, place + 1, part] if part else [to, place]]
    return found
