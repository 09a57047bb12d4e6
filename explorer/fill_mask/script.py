"""Scripts of the Fill-mask tab: guesses, words compared, several blanks, every position, the lens."""

from typing import Any

from explorer.fill_mask.guesses import MOST_TOGETHER, MOST_WORDS
from explorer.fill_mask.lens import _columns, chosen_lens
from explorer.fill_mask.word import pieces_named
from explorer.ui.long_view import is_quick
from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def comparison(view: Any, subject: Subject) -> Script | None:
    """The probabilities of the named words, else of the two best guesses, and the ratio of the two likeliest."""
    ids = [id for id, _ in pieces_named(subject, view.words, subject.blank, MOST_WORDS)]
    words = subject.model.tokenizer.convert_ids_to_tokens(ids)
    return Script("comparison.py", blank=subject.blank, words=words)


def together(view: View, subject: Subject) -> Script | None:
    """Several blanks filled one after the other, in two orders."""
    blanks = len(subject.trace.mask_positions)
    if not (1 < blanks <= MOST_TOGETHER and is_quick(subject, 2 * blanks)):
        return None
    return Script("together.py")


def likelihoods(view: Any, subject: Subject) -> Script | None:
    """The pseudo-log-likelihood of sentences."""
    lines = [line.strip() for line in view.sentences.splitlines() if line.strip()]
    return Script("likelihoods.py", sentences=Names(subject.model).texts(*lines))


def lens(view: Any, subject: Subject) -> Script | None:
    """The first guess at every position after each layer."""
    seen, is_tuned = _columns(subject), chosen_lens(subject, view.reading) is not None
    is_part = len(seen) != subject.trace.kept
    return Script("lens.py", is_tuned=is_tuned, is_part=is_part, start=seen.start, stop=seen.stop)


def followed(view: Any, subject: Subject) -> Script | None:
    """The probabilities and ranks of words after each layer."""
    (pieces, target), is_tuned = view.asked(subject), chosen_lens(subject, view.reading) is not None
    words = subject.model.tokenizer.convert_ids_to_tokens(list(pieces))
    return Script("followed.py", words=words, has_foil=target.foil is not None, is_tuned=is_tuned)


CODE = {
    "fill-mask/guesses": Script("guesses.py"),
    "fill-mask/comparison": comparison,
    "fill-mask/together": together,
    "fill-mask/positions": Script("positions.py"),
    "fill-mask/each-word": Script("positions.py"),
    "fill-mask/likelihoods": likelihoods,
    "fill-mask/lens": lens,
    "fill-mask/followed": followed,
}
WITHOUT = {"fill-mask/game": "A round is drawn and played in the page."}
