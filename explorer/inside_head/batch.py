"""Two inputs in one batch: padding of the shorter one, and the mask that keeps all tokens from attending to it."""

from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.inside_head.compute import Answers, Batch, answers_to, read_together
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import percent, whole_percent
from explorer.ui.pictures.batch_grid import batch_grid
from explorer.ui.pictures.numbers import beside, columns_of, keep
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import text
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import quote
from explorer.ui.view import Change, Content, Finding, View, caption, check, matches, part, select, sentence

SECOND = "A batch is one rectangle of ids. Shorter rows are filled up to the length of the longest."
MOST_TOKENS = 128  # per row: longer ones would only show a window, and three passes over them take seconds
MOVED = [
    Column("the input", "name", name="read"),
    Column("weight on [PAD]", "number", form=".4f", name="weight_on_pad"),
    Column("largest change", "number", form=".2g", name="largest_change"),
    Column("cosine distance", "number", form=".4f", name="mean_1_minus_cosine"),
]


class InABatch(View):
    """The input and a second one as a batch, and one head with and without the attention mask."""

    name, question = "inside-head/batch", "How does a batch hold two inputs of different length?"
    layout = (row(col("moved", "check", "help", width=4), col("asked", "weights", width=7)),)
    batch = part("words")
    second: str = text(SECOND, "The second input of the batch", max_lines=2, heard="submit blur", elem_classes="inline long")
    about = sentence()
    moved = part("strips", classes="compact")
    check = check()
    help = caption(
        "A batch is a rectangle, so the shorter input is filled up with [PAD]: **padding**. The **attention mask** is 1 for a "
        "token and 0 for [PAD]. Where the mask is 0, the score q·k ÷ √d is set to −∞ before the softmax, and e to that power "
        "is 0. So no token takes anything from [PAD], and the input's vectors equal those of the input alone, up to rounding. "
        "Without the mask, [PAD] is a token like any other: a second run masks nothing in any layer. The largest change is "
        "that of one number of the last hidden state, against the input read alone. The cosine distance (0 to 2) is the mean "
        "over the input's tokens."
    )
    asked = sentence()
    weights = part("strips", height=420)

    def unless(self, subject: Subject) -> str:
        return _too_long("This input", subject.trace.kept)

    def first(self, subject: Subject) -> Subject:
        """Select the layer and head with the most weight on [PAD] without the mask."""
        if subject.chosen.picked or self.unless(subject):
            return subject
        try:
            batch = self.read_together(subject)
        except InputError:  # an error of the second input, which `compute` reports
            return subject
        leaks = batch.leaks[..., batch.words].mean(2)  # [layers, heads]
        layer, head = np.unravel_index(int(leaks.argmax()), leaks.shape)
        return subject.select(layer=int(layer) + 1, head=int(head) + 1, picked=False)

    def compute(self, subject: Subject) -> Content:
        batch = self.read_together(subject)
        tokens = [subject.model.pieces(row) for row in batch.ids.tolist()]
        shown = {"about": _about(batch), "batch": batch_grid(tokens, batch.ids, batch.attention_mask)}
        if batch.real.all():
            return shown | {"asked": "", "weights": None, "moved": None, "check": None}
        token, own = self.query(subject, batch), tokens[batch.row]
        place = (subject.selection.attention_layer, subject.selection.head_index)
        answers = self.answers(subject, batch)
        about = {"input": batch.row + 1, "layer": place[0] + 1, "head": place[1] + 1, "query_position": token}
        return shown | {
            "asked": (
                f"'{own[token]}' (token {token} of the {('first', 'second')[batch.row]} input) is the query, every place of "
                f"its row is a key: {head_name(place)}.{'' if batch.row else ' Click a token to make it the query.'}"
            ),
            "weights": beside(_weights(batch, answers, own, _pad(subject)), **about),
            "moved": _moved(batch, answers),
            "check": matches(batch.error, "with the mask, both rows end as in transformers' own pass over the batch"),
        }

    def finding(self, subject: Subject) -> Finding:
        batch = self.read_together(subject)
        if batch.real.all():
            return Finding(f"Both inputs have {len(batch.real)} tokens, so nothing is filled up.")
        token, place = self.query(subject, batch), (subject.selection.attention_layer, subject.selection.head_index)
        named = quote(subject.model.pieces(batch.ids[batch.row][batch.real].tolist()), token)
        leak, pads = float(batch.leaks[(*place, token)]), int((~batch.real).sum())
        padding = f"the {pads} {_pad(subject)}{'s' * (pads > 1)} of the shorter input ({head_name(place)})"
        return Finding(f"Without the mask, {named} gives {whole_percent(leak)} of its weight to {padding}; with it, none.")

    def on_weights(self, subject: Subject, index: int) -> Change:
        """Select a token (zero-based) as the query, unless the second input is the shorter one."""
        index = limits.check_place(index)
        return Change() if self.read_together(subject).row else select(token=index)

    def read_together(self, subject: Subject) -> Batch:
        """Both inputs in one batch. Raises InputError when the second one cannot be read or drawn."""
        if not self.second.strip():
            raise InputError("Type a second input: a single one needs no padding.")
        second = subject.model.trace(self.second)
        if long := _too_long("The second input", second.kept):
            raise InputError(long)
        return read_together(subject.trace, second)

    def query(self, subject: Subject, batch: Batch) -> int:
        """The query, a token of the shorter input: the selected one of the first, else the one with the most weight on [PAD]."""
        chosen = None if batch.row else subject.selection.token
        given = batch.leaks[subject.selection.attention_layer, subject.selection.head_index]  # [own tokens]
        return chosen if chosen is not None else max(batch.words, key=lambda token: given[token])

    def answers(self, subject: Subject, batch: Batch) -> tuple[Answers, Answers]:
        layer, head, token = subject.selection.attention_layer, subject.selection.head_index, self.query(subject, batch)
        with_mask, without = (answers_to(subject.model, batch, layer, head, token, mask) for mask in (True, False))
        return with_mask, without


def _too_long(what: str, tokens: int) -> str:
    return f"{what} has {tokens:,} tokens, and a batch is drawn up to {MOST_TOKENS}. Shorten the text." * (tokens > MOST_TOKENS)


def _pad(subject: Subject) -> str:
    return str(subject.model.tokenizer.pad_token)


def _about(batch: Batch) -> str:
    counts = batch.attention_mask.sum(1).tolist()
    width, empty = batch.ids.shape[1], int((~batch.attention_mask).sum())
    places, are = ("place", "is") if empty == 1 else ("places", "are")
    wasted = f"{empty} {places}, {percent(empty / batch.ids.size)} of them all, {are} padding"
    return (
        f"A rectangle of 2 × {width} for the {counts[0]} tokens of the input above and the {counts[1]} of the second one: "
        f"{wasted if empty else 'nothing is filled up'}."
    )


def _weights(batch: Batch, answers: tuple[Answers, Answers], tokens: list[str], pad: str) -> dict[str, Any]:
    """A row for each position: its score and weight with the mask and without; above them, the sum over [PAD]."""
    empty = ~batch.real
    sums = [answer.weights[empty].sum() for answer in answers]
    top = float(max(*sums, *(answer.weights.max() for answer in answers)))
    columns = [Column("", "name"), Column("mask", "number")]
    for when in ("with mask", "without"):
        score, weight = Column(f"score {when}", "number", form=".2f"), Column("softmax", "number", form=".4f")
        columns += [score, weight, Column("", "bar", top)]

    def of(place: int) -> Row:
        real = bool(batch.real[place])
        numbers = (
            number for answer in answers for number in (answer.scores[place], answer.weights[place], answer.weights[place])
        )
        return Row([tokens[place], int(real), *numbers], token=place if real else None)

    shares = (number for share in sums for number in (None, share, share))
    together = Row([f"all {int(empty.sum())} {pad} together", None, *shares], strong=True)
    table = strip_table(columns, [together, *map(of, range(len(tokens)))], "one query and every place of its row")
    with_mask, without = answers
    numbers: dict[str, Any] = {
        "position": range(len(tokens)),
        "token": tokens,
        "attention_mask": batch.real.astype(int),
        "masked_score": with_mask.scores,
        "masked_weight": with_mask.weights,
        "unmasked_score": without.scores,
        "unmasked_weight": without.weights,
    }
    return keep(table, lambda: columns_of(**numbers))


def _moved(batch: Batch, answers: tuple[Answers, Answers]) -> dict[str, Any]:
    given = [float(answer.weights[~batch.real].sum()) for answer in answers]
    rows = [
        Row(["with the mask", given[0], batch.change(True), batch.turn(True)], strong=True),
        Row(["without it", given[1], batch.change(False), batch.turn(False)]),
    ]
    return strip_table(MOVED, rows, "how far the shorter input is from what it is alone")
