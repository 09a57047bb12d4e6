"""The lens: the masked-LM head's prediction after each layer."""

from typing import Any

import numpy as np

from explorer.figures.bars import whole_percent
from explorer.figures.masked_lm import followed_words
from explorer.figures.numbers import Table, keep
from explorer.figures.window import MOST_AT_ONCE
from explorer.figures.word_grid import word_grid
from explorer.techniques.lens import Lens as Found
from explorer.techniques.lens import follow, lens, lens_error
from explorer.text import limits
from explorer.views.fill_mask.word import pieces_named, which_blank
from explorer.views.settings import text
from explorer.views.subject import Subject
from explorer.views.view import QUICK, Change, Content, Finding, View, Why, caption, chart, check, matches, part, select, sentence

MOST_WORDS = 4


class Lens(View):
    """The first guess at every position after each layer."""

    name, question = "fill-mask/lens", "What would BERT have said after each layer?"
    table = part("words", answer=True)
    cut = sentence()
    help = caption(
        "Each row reads one hidden state with the masked-LM head, as if it were the last (the logit lens of "
        "nostalgebraist, 2020, for BERT). Darker or brighter: more probable, 0 to 100 %. Early rows are read with a "
        "head that was trained for the last row only. Click a word to follow that column."
    )
    check = check()

    def compute(self, subject: Subject) -> Content:
        """The table of words around the token."""
        trace, seen = subject.trace, _columns(subject)
        cut = "" if len(seen) == trace.kept else f"Read here: positions {seen[0]} to {seen[-1]} of {trace.kept}."
        found, error = _lens(subject)
        return {
            "table": _table(subject, found),
            "cut": cut and f"{cut} Click a token above to read the others.",
            "check": matches(error, "the last row is the model's own prediction, logit by logit"),
        }

    def finding(self, subject: Subject) -> Finding:
        """The layer since which the final guess leads at the token, and the guess before."""
        (found, _), column = _lens(subject), subject.token - _columns(subject).start
        where = which_blank(subject) if subject.token in subject.trace.mask_positions else ""
        share = whole_percent(float(found.probabilities[-1, column, 0]))
        ranks, ids = found.final_ranks[:, column], found.ids[:, column, 0]
        since = _settled(ranks)
        leads, before = (subject.model.pieces([int(ids[layer])])[0] for layer in (-1, since - 1))
        if since == 0:
            return Finding(f"{where}“{leads}” leads from the embeddings on, and ends at {share}.")
        seen = Why("hidden", "Layer by layer", {"layer": since, "token": subject.token})
        return Finding(f"{where}“{leads}” leads from layer {since} on, and ends at {share}; before it, “{before}” does.", seen)

    def on_table(self, subject: Subject, index: list[int]) -> Change:
        """Select another token: [row, column] of a word."""
        position = _columns(subject).start + limits.check_cell(index)[1]
        return select(token=limits.check_integer(position, "the position", 0, subject.trace.kept - 1))


class FollowedWords(View):
    """Chosen words at one position, followed through the layers."""

    name, question = "fill-mask/followed", "When did BERT come to believe it?"
    columns = (("follow", "summary"), ("followed",))
    widths = (3, 8)
    follow: str = text("", "Follow words", placeholder="the two best guesses")
    summary = sentence(answer=True)
    followed = chart("Words through the layers", height=300, answer=True)

    def compute(self, subject: Subject) -> Content:
        """The probability and rank of each word after each layer."""
        position = subject.token
        pieces = pieces_named(subject, self.follow, position, MOST_WORDS)
        names = [name for _, name in pieces]
        shares, ranks = follow(subject.trace, position, [id for id, _ in pieces])
        since, last = _settled(ranks[:, 0]), len(ranks) - 1
        when = "is first only at the end" if since == last else f"stays there from hidden state {since} on"
        summary = f"At position {position}, {names[0]} ends at rank {ranks[-1, 0]:,} and {when}."
        return {"followed": followed_words(names, shares, ranks), "summary": summary}


def _lens(subject: Subject) -> tuple[Found, float]:
    """The first guess at each position shown, after each layer, and the difference of the last from the model's own."""
    trace, seen = subject.trace, _columns(subject)
    return trace.once(("lens", seen), lambda: (lens(trace, seen), lens_error(trace, seen)))


def _columns(subject: Subject) -> range:
    """The positions to read: all if that is quick, else as many as are, around the selected token.

    They move in steps, so that selecting another token seldom needs another reading.
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
            (subject.model.pieces([id])[0], share, f"{share:.1%}, the final guess is at rank {rank:,}")
            for id, share, rank in zip(ids.tolist(), shares.tolist(), ranks.tolist(), strict=True)
        ]
        for ids, shares, ranks in zip(found.ids[..., 0], found.probabilities[..., 0], found.final_ranks, strict=True)
    ]
    rows = ["embeddings", *(f"layer {layer}" for layer in range(1, len(cells)))]
    columns = [subject.trace.tokens[place] for place in found.positions]
    column = subject.token - found.positions[0]
    settled = (_settled(found.final_ranks[:, column]), column)
    grid = word_grid("after", columns, rows, cells, column, found.positions, settled)
    return keep(grid, lambda: _numbers(subject, found))


def _numbers(subject: Subject, found: Found) -> Table:
    """A row for each hidden state and position: the first guess, its probability, and the rank of the final guess."""
    rows = [
        [layer, position, subject.trace.tokens[position], subject.model.pieces([id])[0], id, share, rank]
        for layer, (ids, shares, ranks) in enumerate(zip(found.ids, found.probabilities, found.final_ranks, strict=True))
        for position, id, share, rank in zip(
            found.positions, ids[:, 0].tolist(), shares[:, 0].tolist(), ranks.tolist(), strict=True
        )
    ]
    return Table.of(("hidden_state", "position", "token", "guess", "id", "probability", "rank_of_final_guess"), rows)


def _settled(ranks: np.ndarray) -> int:
    """The hidden state from which on the rank no longer changes."""
    last = len(ranks) - 1
    while last > 0 and ranks[last - 1] == ranks[-1]:
        last -= 1
    return last
