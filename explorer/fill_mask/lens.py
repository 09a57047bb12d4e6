"""The lens: the masked-LM head's prediction after each layer, raw (logit lens) or after a fitted map (tuned lens)."""

from typing import Any

import numpy as np

from explorer.fill_mask.pictures import followed_words
from explorer.fill_mask.word import read_pieces, which_blank
from explorer.techniques.lens import NONE, RAW, TUNED, TunedLens, follow, lens, lens_error, tuned_lens
from explorer.techniques.lens import Lens as Found
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.long_view import QUICK
from explorer.ui.pictures.bars import percent, whole_percent
from explorer.ui.pictures.base import MOST_AT_ONCE
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.settings import Choice, text, use
from explorer.ui.subject import Subject
from explorer.ui.telling import quote
from explorer.ui.view import Change, Content, Finding, View, Why, caption, chart, check, matches, part, select, sentence

MOST_WORDS = 4
READING = Choice(
    label="Lens",
    options=(("raw lens: the model's output head on every layer", RAW), ("tuned lens: after a fitted correction", TUNED)),
    look={"show_label": False, "container": False},
)
HOW = {RAW: "with the output head", TUNED: "with the tuned lens"}


class Lens(View):
    """The first guess at every position after each layer."""

    name, question = "fill-mask/lens", "What would BERT guess after each layer?"
    table = part("words", answer=True)
    reading: str = use(READING, RAW)
    cut = sentence()
    about = sentence(classes="caption", optional=True)
    help = caption(
        "Each row reads one hidden state with the masked-LM head, as if it were the last. A stronger colour means a higher "
        "probability (0 to 100%). Click a word to follow that column. **Raw** is the logit lens (nostalgebraist 2020), here "
        "for BERT. It reads early rows with a head that was trained for the last row only, so an odd guess may be the head's "
        "fault. **Tuned** (Belrose et al. 2023) first applies an affine map, h + W h + b, to each state but the last. The map "
        "was fitted, on other sentences, to predict the model's final output. It may have learned something that the model "
        "itself does not read there."
    )
    check = check()

    def compute(self, subject: Subject) -> Content:
        trace, seen = subject.trace, _columns(subject)
        cut = f" Positions {seen[0]} to {seen[-1]} of {trace.kept}: click a token for others." * (len(seen) < trace.kept)
        error = trace.once(("lens error", seen), lambda: lens_error(trace, seen))
        return {
            "table": _table(subject, _lens(subject, seen, chosen_lens(subject, self.reading))),
            "cut": f"Each word is BERT's guess at that place after that layer; the stronger the blue, the more probable.{cut}",
            "check": matches(error, "the last row is the model's own prediction, logit by logit"),
        } | ({"about": _describe_fit(subject)} if self.reading == TUNED else {})

    def finding(self, subject: Subject) -> Finding:
        """The layer since which the final guess leads at the token, and the guess before; beside the raw lens, the tuned one."""
        tuned, token = chosen_lens(subject, self.reading), subject.token
        found = _lens(subject, _columns(subject), tuned)
        where = which_blank(subject) if token in subject.trace.mask_positions else f"At {quote(subject.trace.tokens, token)}: "
        share = whole_percent(float(found.probabilities[-1, token - found.positions[0]]))
        leads, since, before = _follow_guess(subject, found)
        told = f"{where}After {_state(since - 1)} BERT would guess “{before}”; " if since else where
        read = f", read {HOW[TUNED]}" * (tuned is not None)
        told += f"from {_state(since)} on “{leads}” leads ({share}){read}."
        if not tuned and (other := tuned_lens(subject.model)):
            _, there, _ = _follow_guess(subject, _lens(subject, range(token, token + 1), other))
            told += f" The tuned lens reads “{leads}” from {_state(there)} on."
        why = Why("hidden", "Layer by layer", {"layer": since, "token": token}) if since else None
        return Finding(told[:1].upper() + told[1:], why)

    def on_table(self, subject: Subject, index: list[int]) -> Change:
        """Select another token: [row, column] of a word."""
        position = _columns(subject).start + limits.check_cell(index)[1]
        return select(token=limits.check_integer(position, "the position", 0, subject.trace.kept - 1))


class FollowedWords(View):
    """Chosen words at one position, followed through the layers."""

    name, question = "fill-mask/followed", "At which layer does BERT settle on a word?"
    layout = (row(col("follow", "summary", width=3), col("followed", width=8)),)
    reading: str = use(READING, RAW, here=False)
    follow: str = text("", "Follow words", placeholder="the two best guesses")
    summary = sentence(answer=True)
    followed = chart("Words through the layers", height=300, answer=True)

    def compute(self, subject: Subject) -> Content:
        """The probability and rank of each word after each layer."""
        pieces, tuned = dict(read_pieces(subject, self.follow, subject.token, MOST_WORDS)), chosen_lens(subject, self.reading)
        (shares, ranks), names = follow(subject.trace, subject.token, list(pieces), tuned), list(pieces.values())
        since, last = _settles_at(ranks[:, 0]), len(ranks) - 1
        when = "gets there only at the end" if since == last else f"stays there from hidden state {since} on"
        told = f"Read {HOW[TUNED if tuned else RAW]}, at position {subject.token} {names[0]} ends at rank"
        drawn = followed_words(names, shares, ranks)
        return {"followed": drawn, "summary": f"{told} {ranks[-1, 0]:,} and {when}."}


def chosen_lens(subject: Subject, reading: str) -> TunedLens | None:
    """The tuned lens if it is chosen and there is one for the model; None to read raw."""
    return tuned_lens(subject.model) if reading == TUNED else None


def _describe_fit(subject: Subject) -> str:
    """How far the guesses of both lenses are from the last ones, on sentences that the tuned one was not fitted on."""
    if (tuned := tuned_lens(subject.model)) is None:
        return f"Read raw here: {NONE[0].lower()}{NONE[1:]}"
    about = tuned.about
    raw, mapped = (", ".join(f"{share:.2f}" for share in about[name]) for name in (RAW, TUNED))
    return (
        f"Fitted on {about['fitted']:,} sentences. On {about['held_out']} others its guesses diverge from the last ones by "
        f"{mapped} nats in hidden states 0 to {len(about[RAW]) - 1} (mean KL), raw ones by {raw}."
    )


def _lens(subject: Subject, seen: range, tuned: TunedLens | None) -> Found:
    """The first guess at each of these positions, after each layer."""
    return subject.trace.once(("lens", seen, tuned is not None), lambda: lens(subject.trace, seen, tuned=tuned))


def _follow_guess(subject: Subject, found: Found) -> tuple[str, int, str]:
    """The final guess at the selected token, the hidden state since which it leads, and the guess before."""
    column = subject.token - found.positions[0]
    since, ids = _settles_at(found.final_ranks[:, column]), found.ids[:, column]
    leads, before = subject.model.pieces([int(ids[-1]), int(ids[since - 1])])
    return leads, since, before


def _state(state: int) -> str:
    return f"layer {state}" if state else "the embeddings"


def _columns(subject: Subject) -> range:
    """The positions to read: all if that is quick, else as many around the selected token as can be read quickly.

    They move in steps, so that selecting another token rarely needs another reading.
    """
    kept, model = subject.trace.kept, subject.model.capabilities
    multiplications = (model.layers + 1) * model.hidden_size * (model.hidden_size + model.vocab_size)
    most = max(MOST_AT_ONCE, int(QUICK / 4 / multiplications))  # ranking all words takes three times as long
    step = most // 4
    first = max(0, min(subject.token // step * step - most // 2 + step // 2, kept - most))
    return range(first, min(first + most, kept))


def _table(subject: Subject, found: Found) -> dict[str, Any]:
    cells = [
        [
            (subject.model.pieces([id])[0], share, f"{percent(share)}, the final guess is at rank {rank:,}")
            for id, share, rank in zip(ids.tolist(), shares.tolist(), ranks.tolist(), strict=True)
        ]
        for ids, shares, ranks in zip(found.ids, found.probabilities, found.final_ranks, strict=True)
    ]
    rows = ["embeddings", *(f"layer {layer}" for layer in range(1, len(cells)))]
    columns = [subject.trace.tokens[place] for place in found.positions]
    column = subject.token - found.positions[0]
    settled = (_settles_at(found.final_ranks[:, column]), column)
    grid = word_grid("after", columns, rows, cells, column, found.positions, settled)
    return keep(grid, lambda: _numbers(subject, found))


def _numbers(subject: Subject, found: Found) -> Table:
    """A row for each hidden state and position: the first guess, its probability, and the rank of the final guess."""
    rows = [
        [layer, position, subject.trace.tokens[position], subject.model.pieces([id])[0], id, share, rank]
        for layer, (ids, shares, ranks) in enumerate(zip(found.ids, found.probabilities, found.final_ranks, strict=True))
        for position, id, share, rank in zip(found.positions, ids.tolist(), shares.tolist(), ranks.tolist(), strict=True)
    ]
    return Table.of(("hidden_state", "position", "token", "guess", "id", "probability", "rank_of_final_guess"), rows)


def _settles_at(values: np.ndarray) -> int:
    """The hidden state from which on a value no longer changes."""
    others = np.flatnonzero(values != values[-1])
    return int(others[-1]) + 1 if len(others) else 0
