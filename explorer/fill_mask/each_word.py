"""An input without a blank: the model's guess in place of each word."""

from collections.abc import Sequence

from explorer.techniques.pseudo_likelihood import Surprise
from explorer.ui.pictures.bars import bars, percent, whole_percent
from explorer.ui.pictures.numbers import Table, columns_of, keep
from explorer.ui.says import each_word_hidden
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, part, prose

HOW = (
    "Each word is hidden by itself while all others are in sight; the bar is its probability there (softmax over the vocabulary, "
    "0 to 100 %), beside the model's first guess where that is another word."
)


def _hidden(subject: Subject) -> Surprise | None:
    """The surprisal of all words; None with a blank, or if it would take long."""
    return None if subject.trace.mask_positions else each_word_hidden(subject)


def _numbers(tokens: Sequence[str], guesses: Sequence[str], found: Surprise) -> Table:
    """A row for each word that was hidden."""
    return columns_of(
        position=found.positions,
        token=[tokens[place] for place in found.positions],
        probability=found.shares,
        rank=found.ranks,
        first_guess=guesses,
        first_guess_probability=found.best_probabilities,
    )


class EachWord(View):
    """Every word with its probability when masked, and the first guess there."""

    name, question = "fill-mask/each-word", "What would BERT have said in the place of each word?"
    stands_in = True
    title = prose(classes="detail-title", optional=True)
    words = part("bars", optional=True, answer=True)
    how = prose(classes="caption", optional=True)

    def compute(self, subject: Subject) -> Content:
        """A bar per word in the order of the text; nothing with a blank, or if it would take long."""
        if (found := _hidden(subject)) is None:
            return {}
        tokens, guesses = subject.trace.tokens, subject.model.pieces(found.best_ids.tolist())
        numbers = zip(found.positions, found.shares, found.ranks, guesses, found.best_probabilities, strict=True)
        rows = [
            (tokens[place], float(share), "the first guess" if rank == 1 else f"rather {guess}, {whole_percent(float(best))}")
            for place, share, rank, guess, best in numbers
        ]
        words = keep(bars(rows), lambda: _numbers(tokens, guesses, found))
        return {"title": "**Each word hidden in turn**", "words": words, "how": HOW}

    def finding(self, subject: Subject) -> Finding | None:
        """The least expected word."""
        if (found := _hidden(subject)) is None:
            return None
        at = int(found.log_probabilities.argmin())
        word = subject.trace.tokens[found.positions[at]]
        (guess,) = subject.model.pieces([int(found.best_ids[at])])
        best = whole_percent(float(found.best_probabilities[at]))
        share = percent(float(found.shares[at]))
        if found.ranks[at] == 1:
            return Finding(f"Even the word that is expected least, “{word}” ({share}), is the first guess.")
        return Finding(f"“{word}” is expected least ({share}): BERT would say “{guess}” ({best}).")
