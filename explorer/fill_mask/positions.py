"""The model's guess at every position, and the probability of whole sentences."""

from collections.abc import Generator, Hashable, Iterator
from typing import Any

import numpy as np

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.limits import TYPE, Limit
from explorer.core.steps import finished
from explorer.fill_mask.pictures import surprise_bars
from explorer.techniques.pseudo_likelihood import LIKELIHOODS, Surprise, pseudo_likelihoods_in_steps, surprise_in_steps
from explorer.ui.answers import each_word_hidden
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import bars, percent, whole_percent
from explorer.ui.pictures.numbers import Table, columns_of, keep
from explorer.ui.settings import text
from explorer.ui.subject import Subject
from explorer.ui.telling import quote
from explorer.ui.view import Content, Finding, View, Why, button, caption, chart, heading, part, prose, sentence

SENTENCES = "The keys to the cabinet are on the table.\nThe keys to the cabinet is on the table."
MOST_SENTENCES = Limit(20, TYPE)
MOST_SQUARED = Limit(40_000, "That takes too long to score. Shorten the sentences: to 200 pieces, or 40 in each of twenty.")
COLUMNS = ("Sentence", "Pieces", "ln p (by word)", "ln p (original)")

_scores: OnceCache[Hashable, list[list[Any]]] = OnceCache(16)


class EveryPosition(LongView):
    """The surprisal of every word of the input, each hidden in turn."""

    name, question = "fill-mask/positions", "Which words does BERT not expect?"
    start = "Ask for every position"
    surprise = chart("Surprise by position", height=310, answer=True)
    summary = sentence(classes="caption", keep_height=True, answer=True)
    help = caption(
        "Each word is hidden in turn while all others are visible. Surprise is −log₂ of the hidden word's probability: 0 bits "
        "means fully expected, 1 bit a coin toss. Above each bar is BERT's first guess, green where it is the word itself, "
        "orange where not."
    )

    def passes(self, subject: Subject) -> float:
        return subject.trace.kept  # one for each word to mask

    def work(self, subject: Subject) -> Generator[float, None, Surprise]:
        return surprise_in_steps(subject.trace, subject.model.visible_positions(subject.trace.encoding))

    def draw(self, subject: Subject, found: Surprise) -> Content:
        if not found.positions:
            raise InputError("No visible word is left to hide. Type one beside the [MASK]s.")
        tokens = [subject.trace.tokens[position] for position in found.positions]
        best = subject.model.pieces(found.best_ids.tolist())
        hits = int((found.ranks == 1).sum())
        summary = (
            f"Each word was hidden in turn; above the bar is BERT's first guess, green where right. It is right at {hits} of "
            f"{len(tokens)} places; {found.bits.mean():.2f} bits per piece on average."
        )
        return {"surprise": surprise_bars(found, tokens, best), "summary": summary}

    def finding(self, subject: Subject) -> Finding | None:
        if (found := self.known(subject)) is None or not found.positions:
            return None
        worst = int(np.argmax(found.bits))
        place, (guess,) = found.positions[worst], subject.model.pieces([int(found.best_ids[worst])])
        word, bits = quote(subject.trace.tokens, place), max(float(found.bits[worst]), 0.1)
        text = f"{word} surprises BERT most ({bits:.1f} bits): with it hidden, the first guess is “{guess}”."
        if found.ranks[worst] == 1:
            text = f"Even the word that surprises most, {word} (at most {bits:.1f} bits), is the first guess there."
        return Finding(text, Why("fill-mask", "Lens", {"token": place}))


class EachWord(View):
    """Every word of an input without a blank, with its probability when masked, and the first guess there.

    The style sheet shows it where the open choice shows nothing.
    """

    name, question = "fill-mask/each-word", "What would BERT guess in place of each word?"
    title = prose(classes="detail-title", optional=True)
    words = part("bars", optional=True, answer=True)
    how = prose(classes="caption", optional=True)

    def compute(self, subject: Subject) -> Content:
        """A bar per word in the order of the text; nothing with a blank, or if it would take long."""
        if (found := self._found(subject)) is None:
            return {}
        tokens = [subject.trace.tokens[place] for place in found.positions]
        guesses, best = subject.model.pieces(found.best_ids.tolist()), found.best_probabilities
        rows = [
            (token, float(share), "the first guess" if rank == 1 else f"rather {guess}, {whole_percent(float(guess_share))}")
            for token, share, rank, guess, guess_share in zip(tokens, found.shares, found.ranks, guesses, best, strict=True)
        ]
        numbers: dict[str, Any] = {"probability": found.shares, "rank": found.ranks}
        numbers |= {"first_guess": guesses, "first_guess_probability": best}
        return {
            "title": "**Each word hidden in turn**",
            "words": keep(bars(rows), lambda: columns_of(position=found.positions, token=tokens, **numbers)),
            "how": "Each word is hidden in turn while all others are visible. The bar is the hidden word's probability "
            "(softmax over the vocabulary, 0 to 100%); the model's first guess is beside it where that is another word.",
        }

    def finding(self, subject: Subject) -> Finding | None:
        if (found := self._found(subject)) is None:
            return None
        at = int(found.log_probabilities.argmin())
        word = quote(subject.trace.tokens, found.positions[at])
        (guess,) = subject.model.pieces([int(found.best_ids[at])])
        share = percent(float(found.shares[at]))
        if found.ranks[at] == 1:
            return Finding(f"Even the word that is expected least, {word} ({share}), is the first guess.")
        best = whole_percent(float(found.best_probabilities[at]))
        return Finding(f"{word} is expected least ({share}): BERT would say “{guess}” ({best}).")

    def _found(self, subject: Subject) -> Surprise | None:
        return None if subject.trace.mask_positions else each_word_hidden(subject)


class Likelihoods(View):
    """Sentences ranked by probability; they are the view's own, not the input."""

    name, question = "fill-mask/likelihoods", "Which sentence does BERT find more likely?"
    layout = (row(col("sentences", "score", width=5), col("table", width=6)),)
    title = heading("**Which sentence does BERT find more likely?**")
    sentences: str = text(SENTENCES, "One sentence per line", heard="submit", lines=3, max_lines=8)
    score = button("Score the sentences")
    table = part("frame", columns=list(COLUMNS), types=["str", "number", "number", "number"], widths=["52%", "13%", "17%", "18%"])
    help = caption(
        "Pseudo-log-likelihood: each piece is hidden in turn, and the natural logarithms of the probabilities are summed; "
        "closer to 0 is more likely. *By word* also hides the later pieces of the same word (Kauf & Ivanova 2023). The "
        "*original* (Salazar et al. 2020) hides one piece alone, so a rare word of many pieces looks too probable. Longer "
        "sentences score lower: compare sentences of similar length."
    )

    def compute(self, subject: Subject) -> Content:
        """A row per sentence, the most probable first; cached by model and sentences."""
        key = (subject.model_name, self.sentences)
        return {"table": _scores.get(key, lambda: _score(subject, self.sentences))}

    def on_score(self, subject: Subject, index: None) -> Iterator[Content]:
        yield self.compute(subject)


def _score(subject: Subject, lines: str) -> list[list[Any]]:
    model, sentences = subject.model, [line.strip() for line in lines.splitlines() if line.strip()]
    if not 1 <= len(sentences) <= MOST_SENTENCES.most:
        raise InputError(MOST_SENTENCES.tell(len(sentences), "sentences"))
    pieces = [len(model.visible_positions(model.encode(sentence))) for sentence in sentences]
    MOST_SQUARED.check(sum(count**2 for count in pieces))  # a pass over all pieces for each of them
    by_word, original = (finished(pseudo_likelihoods_in_steps(model, sentences, way)) for way in LIKELIHOODS)
    rows = sorted(zip(sentences, pieces, by_word, original, strict=True), key=lambda row: -row[2])
    shown = [[sentence, count, round(score, 2), round(alone, 2)] for sentence, count, score, alone in rows]
    return keep(shown, lambda: Table.of(("sentence", "pieces", "by_word", "original"), rows))
