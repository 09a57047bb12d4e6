"""The model's guess at every position, and the probability of whole sentences."""

from collections.abc import Generator, Hashable
from typing import Any

import numpy as np

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import TYPE, Limit
from explorer.core.steps import finished
from explorer.fill_mask.pictures import surprise_bars
from explorer.techniques.pseudo_likelihood import Surprise, pseudo_likelihoods_in_steps, seen_surprise, surprise_in_steps
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.settings import choice, text
from explorer.ui.subject import Subject
from explorer.ui.view import (
    Change,
    Content,
    Finding,
    View,
    Why,
    button,
    caption,
    chart,
    heading,
    part,
    sentence,
    show,
    takes_long,
)

HIDDEN, SEEN = "hidden, one at a time", "in sight"
SENTENCES = "The keys to the cabinet are on the table.\nThe keys to the cabinet is on the table."
MOST_SENTENCES = Limit(20, TYPE)
COLUMNS = ("Sentence", "Pieces", "ln p (sum)", "ln p a piece")

_scores: OnceCache[Hashable, list[list[Any]]] = OnceCache(16)


class EveryPosition(LongView):
    """The surprisal of every word of the input."""

    name, question = "fill-mask/positions", "Which words does BERT not expect?"
    start = "Ask for every position"
    way: str = choice((HIDDEN, SEEN), "Each word is", menu=True, elem_classes="inline")
    surprise = chart("Surprise by position", height=310, answer=True)
    summary = sentence(classes="caption", keep_height=True, answer=True)
    help = caption(
        "Surprise is −log₂ of the probability of the word that stands there: 0 bits, no surprise; 1 bit, a coin toss. "
        "Above each bar, BERT's first guess: green where it is the word itself, orange where not. A word in sight is "
        "nearly given away; hidden, it has to be guessed from the others."
    )

    def passes(self, subject: Subject) -> float:
        """One for each word to mask; with all words visible none, since that pass was made already."""
        return subject.trace.kept if self.way == HIDDEN else 0

    def work(self, subject: Subject) -> Generator[float, None, Surprise]:
        """The surprisal at each position."""
        if self.way == HIDDEN:
            return (yield from surprise_in_steps(subject.trace, subject.model.visible_positions(subject.trace.encoding)))
        return seen_surprise(subject.trace)

    def draw(self, subject: Subject, found: Surprise) -> Content:
        """The bars, and the most surprising word."""
        if not found.positions:
            raise InputError("There is no visible word to ask for; type one beside the [MASK]s.")
        tokens = [subject.trace.tokens[position] for position in found.positions]
        best = subject.model.pieces(found.best_ids.tolist())
        hits, bits = int((found.ranks == 1).sum()), found.bits
        worst = int(np.argmax(bits))
        summary = (
            f"First guess right at {hits} of {len(tokens)} places; {bits.mean():.2f} bits a piece on average; most "
            f"surprising: {tokens[worst]} at position {found.positions[worst]} ({bits[worst]:.1f} bits, rank "
            f"{found.ranks[worst]:,})."
        )
        figure = surprise_bars(tokens, bits, best, found.best_probabilities, found.ranks, found.positions)
        return {"surprise": figure, "summary": summary}

    def finding(self, subject: Subject) -> Finding | None:
        """The most surprising word, and the guess in its place."""
        found = self.known(subject)
        if found is None or not found.positions:
            return None
        worst = int(np.argmax(found.bits))
        place, (guess,) = found.positions[worst], subject.model.pieces([int(found.best_ids[worst])])
        word, bits = subject.trace.tokens[place], max(float(found.bits[worst]), 0.1)
        text = f"“{word}” surprises most, by {bits:.1f} bits: BERT would have said “{guess}”."
        if found.ranks[worst] == 1:
            text = f"Even the word that surprises most, “{word}” (at most {bits:.1f} bits), is the first guess there."
        return Finding(text, Why("fill-mask", "Lens", {"token": place}))


class Likelihoods(View):
    """Sentences ranked by probability; they are the view's own, not the input."""

    name, question = "fill-mask/likelihoods", "Which sentence does BERT find likelier?"
    layout = (row(col("sentences", "score", width=5), col("table", width=6)),)
    title = heading("**Which sentence does BERT find likelier?**")
    sentences: str = text(SENTENCES, "One sentence a line", heard="submit", lines=3, max_lines=8)
    score = button("Score the sentences")
    table = part("frame", columns=list(COLUMNS), types=["str", "number", "number", "number"], widths=["52%", "13%", "17%", "18%"])
    help = caption(
        "The pseudo-log-likelihood (Salazar et al. 2020): each piece hidden in turn, the natural logarithms of the "
        "probabilities of the pieces summed; nearer to 0 is likelier. Compare sentences of equal length, or by piece."
    )

    def compute(self, subject: Subject) -> Content:
        """A row per sentence, the most probable by piece first; cached by model and sentences."""
        key = (subject.model_name, self.sentences)
        return {"table": _scores.get(key, lambda: _scored(subject, self.sentences))}

    @takes_long
    def on_score(self, subject: Subject, index: None) -> Change:
        """Score the sentences typed."""
        return show(**self.compute(subject))


def _scored(subject: Subject, lines: str) -> list[list[Any]]:
    model, sentences = subject.model, [line.strip() for line in lines.splitlines() if line.strip()]
    if not 1 <= len(sentences) <= MOST_SENTENCES.most:
        raise InputError(MOST_SENTENCES.tell(len(sentences), "sentences"))
    scores = finished(pseudo_likelihoods_in_steps(model, sentences))
    pieces = [len(model.visible_positions(model.encode(sentence))) for sentence in sentences]
    rows = [(sentence, count, score, score / count) for sentence, count, score in zip(sentences, pieces, scores, strict=True)]
    rows.sort(key=lambda row: -row[3])
    shown = [[sentence, count, round(score, 2), round(by_piece, 3)] for sentence, count, score, by_piece in rows]
    return keep(shown, lambda: Table.of(("sentence", "pieces", "log_likelihood", "by_piece"), rows))
