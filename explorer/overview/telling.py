"""The sentence above the picture: what the answer draws on, tested by a cut; and what a change did to the answer.

A share says what was taken, not what was needed. So the link that is named was cut, alone and in all heads, from its layer on.
"""

from collections.abc import Sequence

import numpy as np

from explorer.overview.compute import Run, link_losses, read_words, run_of
from explorer.overview.pictures import Answer, Rows
from explorer.overview.run import Bar, Followed, answers_of, opens_on
from explorer.techniques.routes import Route
from explorer.techniques.targets import Target
from explorer.ui.edits import edit_names, edits_of
from explorer.ui.long_view import is_quick, seconds
from explorer.ui.pictures.bars import from_to, short_change, short_percent
from explorer.ui.subject import Subject, token_name
from explorer.ui.telling import link_name, quote

TRIED = 10  # links with the largest shares
NAMED = 0.2  # the smallest share of a link that is named: below it, most links with the largest share have no large effect
KEPT = 0.9  # of its probability: if a guess keeps as much without a link, it does not need it
HALF = 0.5  # of its probability: what a guess must lose for one link to matter most
NAMED_OTHERS = 3
AT_ONCE = 0.05  # seconds for the cuts in an answer at once

Tested = tuple[Route, float, float]
"""A link, and the probability of the answer (0 to 1) with it and without it."""


def target_of(subject: Subject, run: Run, followed: Followed) -> Target | None:
    """The model's output at the followed place: the answer for the pair, or the first word; None without a head for it."""
    model, trace, last = subject.model, run.trace, followed.state == subject.model.capabilities.layers
    asks_pair = model.capabilities.next_sentence and trace.encoding.text_b and 0 not in trace.mask_positions
    if last and followed.position == 0 and asks_pair:
        found = model.next_sentence_logits(trace.states[-1:])[0].argmax()
        return Target("next_sentence", 0, int(found), model.pair_names[int(found)])
    if not model.capabilities.fill_mask:
        return None
    (guess,) = model.guesses(run.states[followed.state, [followed.position]], [followed.position], 1)
    return Target("fill_mask", followed.position, guess.candidates[0].id, guess.candidates[0].token)


def try_links(subject: Subject, run: Run, followed: Followed, target: Target, every: bool) -> list[Tested] | None:
    """The effect of each link of at least NAMED, or of the TRIED largest if there is none or `every` one is wanted.

    None if that takes too long for this answer.
    """
    taken = followed.taken[:TRIED]
    large = [route for route in taken if route.share >= NAMED]
    links = large if large and not every else taken
    key = ("link effects", target.head, followed.position, followed.state, len(links))
    passes = sum(followed.state - route.layer for route in links) / subject.model.capabilities.layers
    if not run.trace.knows(key):
        if not is_quick(subject, passes):
            return None
        if subject.later is not None and seconds(subject, passes) > AT_ONCE:
            subject.later.add("link effects")
            return None
    places = [(route.layer, route.query, route.key) for route in links]
    before, after = run.trace.once(key, lambda: link_losses(run.trace, target, places, followed.state))
    return [(route, before, float(left)) for route, left in zip(links, after, strict=True)]


def tell(subject: Subject, run: Run, followed: Followed) -> tuple[str, Route] | None:
    """The sentence about an unchanged run, and the link that it names; None if the place takes nothing from others."""
    if not (taken := followed.taken):
        return None
    tokens, target = run.trace.tokens, target_of(subject, run, followed)
    tested = target and try_links(subject, run, followed, target, every=False)
    names = {route: link_name(tokens, route, followed.position) for route in taken[:TRIED]}
    shares = {route: f"{name} ({short_percent(route.share)} there)" for route, name in names.items()}
    largest = shares[taken[0]]
    if not target or not tested:
        return f"{_place(run, followed)} draws most on {largest}, which no cut has tested.", taken[0]
    place, word = _place(run, followed, target, tested[0][1]), target.token
    needed = [one for one in tested if one[0].share >= NAMED and one[2] < KEPT * one[1]]
    if needed:
        link, share, left = min(needed, key=lambda one: one[2])
        before, after = from_to(share, left)
        most = "most " if link == taken[0] else ""
        return f"{place}, drawing {most}on {shares[link]}; without that link {word} falls from {before} to {after}.", link
    tested = try_links(subject, run, followed, target, every=True) or tested
    link, share, left = min(tested, key=lambda one: one[2])
    lead = f"taking most from {largest} without needing it" if taken[0].share >= NAMED else "with small shares from many words"
    return f"{place}, {lead}; {_tell_strongest(word, names[link], share, left, len(tested))}.", link


def _tell_strongest(word: str, link: str, before: float, after: float, tried: int) -> str:
    """The loss of a guess without the link, of all `tried`, that costs it most, and whether that is much."""
    if HALF * before <= after < KEPT * before:
        was, now = from_to(before, after)
        return f"without {link}, the strongest of {tried} links tried, “{word}” falls from {was} to {now}"
    matters = "one link matters most" if after < HALF * before else "no single link matters"
    return f"{matters}, of {tried} tried (“{word}” {short_change(before, after)} without {link})"


def tell_change(subject: Subject, run: Run, position: int, rows: Rows) -> str:
    """What the changes of the run do to the answer at `position`, else to the first: 'Without head 6.6: tokyo 91% → 27% …'.

    For a moved vector also what else is read differently, and the effect of a random direction of equal length.
    """
    before, lead = run_of(subject.trace), _lead(subject)
    if not (answers := answers_of(subject, run, before, position)):
        return f"{lead}: this model has no answer to compare."
    bars = _bars_at(answers, position)
    first, now, was = max(bars, key=lambda bar: bar[2] or 0)
    leads = max(bars, key=lambda bar: bar[1])
    then = " and still leads" if leads[0] == first else f", {leads[0]} leads with {short_percent(leads[1])}"
    told = f"{lead}: {first} {short_change(was or 0, now)}{then}."
    if not subject.selection.move:
        return told
    at_random = run_of(run.trace, run.off, run.cuts, edits_of(subject, run.trace, subject.trace, at_random=True))
    random = dict(bar[:2] for bar in _bars_at(answers_of(subject, at_random, before, position), position))
    beside = f"A random direction of equal length: {first} {short_change(was or 0, random[first])}."
    return " ".join([told, *_tell_others(run, before, position, rows), beside])


def _bars_at(answers: Sequence[Answer], position: int) -> Sequence[Bar]:
    return next((one for one in answers if one.position == position), answers[0]).bars


def _tell_others(run: Run, before: Run, position: int, rows: Rows) -> list[str]:
    """The other tokens that are read as another word in the end, as a sentence; none without a head for words."""
    if not run.trace.model.capabilities.fill_mask:
        return []
    places = [(len(run.states) - 1, place) for place in rows.places if place != position]
    reads = zip(*(read_words(one, places, 1) for one in (before, run)), strict=True)
    other = [f"{was[0]} → {now[0]}" for [was], [now] in reads if was[0] != now[0]]
    if not other:
        return ["No other token is read differently."]
    more = f" and {len(other) - NAMED_OTHERS} more" if len(other) > NAMED_OTHERS else ""
    return [f"Other tokens are read differently too: {', '.join(other[:NAMED_OTHERS])}{more}."]


def _lead(subject: Subject) -> str:
    """The changes of the run, as the beginning of a sentence."""
    selection, tokens = subject.selection, subject.trace.tokens
    gone = [f"head {layer + 1}.{head + 1}" for layer, head in selection.off]
    for layer, query, key, head in selection.cut:
        to = "" if query == opens_on(subject) else f" → {token_name(tokens, query)}"
        name = f"{token_name(tokens, key)}{to}"
        gone.append(f"{name} in {f'layer {layer + 1}' if head is None else f'head {layer + 1}.{head + 1}'}")
    named = gone if len(gone) < 3 else [gone[0], f"{len(gone) - 1} more changes"]
    changed = [f"without {' and '.join(named)}"] if gone else []
    if selection.swap:
        changed.append("with {1} for {0}".format(*selection.swap))
    lead = ", ".join([*changed, *(one.phrase for one in edit_names(subject))])
    return f"{lead[:1].upper()}{lead[1:]}"


def _place(run: Run, followed: Followed, target: Target | None = None, share: float = np.nan) -> str:
    """The followed place in words, with the model's output there."""
    token, last = quote(run.trace.tokens, followed.position), followed.state == len(run.states) - 1
    where = " in the end" if last else f" after layer {followed.state}"
    if target is None:
        return f"{token}{where}"
    read = f"“{target.token}” ({short_percent(share)})"
    if target.head == "next_sentence":
        return f"{token} answers {target.token} ({short_percent(share)})"
    if last and followed.position in run.trace.mask_positions:
        return f"{token} becomes {read}"
    return f"{token}{where} is read as {read}"
