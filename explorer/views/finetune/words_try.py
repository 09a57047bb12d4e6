"""Try the tagger on a sentence of one's own."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.base.errors import InputError
from explorer.figures.bars import percent, whole_percent
from explorer.figures.numbers import columns_of, keep
from explorer.figures.word_grid import word_grid
from explorer.text import limits
from explorer.text.tagged import split_words
from explorer.views.finetune.run import RunView
from explorer.views.finetune.words_examples import OUTSIDE
from explorer.views.finetune.words_run import OfTaggers
from explorer.views.settings import choice, text
from explorer.views.subject import Subject
from explorer.views.view import Change, Content, part, sentence, settle

if TYPE_CHECKING:
    from explorer.training.run import Run

SENTENCES = (
    "May Brown works for Apple in London and may leave in May.",
    "Rose planted a rose in Boston last May.",
    "The United Nations opened an office in Turkey in 1995.",
    "We ate the turkey that Peter had cooked on Sunday.",
    "Grace left Google in 2010 and bought a farm in Turkey.",
    "One small coffee and two large cakes, please.",
)
MOST_SHOWN = 60  # words


class WordTry(OfTaggers, RunView):
    """A text with a tag under each word."""

    name, question = "fine-tune/words-try", "Which tags does it give the words of your own sentence?"
    side_by_side = (("tag_tried", "tag_sample"),)
    tag_tried: str = text(SENTENCES[0], "Try it on a sentence", scale=5)
    tag_sample: str = choice(SENTENCES, "or one of these", default="", menu=True, free=True, linked=False, scale=2, min_width=120)
    row = part("words", optional=True)
    note = sentence(classes="caption", keep_height=True)

    def show_run(self, subject: Subject, run: "Run") -> Content:
        """The likeliest tag of each word, and how sure it is."""
        from explorer.model.explorer import load

        words = split_words(self.tag_tried)
        if not words:
            return {"note": ""}
        limits.check_text(self.tag_tried, "the sentence")
        labels, predictor = run.predictor.labels, run.predictor
        (shares,) = predictor.tag(load(predictor.model), [words])
        read, said, sure = len(shares), shares.argmax(-1), shares.max(-1)
        if not read:
            raise InputError("The model reads none of these words; type others.")
        seen = [0.0 if labels[tag] == OUTSIDE else float(share) for tag, share in zip(said, sure, strict=True)]
        cells = [(labels[tag], one, _ranked(labels, row)) for tag, one, row in zip(said, seen, shares, strict=True)]
        odds = [(percent(float(share)), 0.0, "") for share in sure]
        grid = word_grid("word", words[:MOST_SHOWN], ["tag", "how sure"], [cells[:MOST_SHOWN], odds[:MOST_SHOWN]])
        least = int(sure.argmin())
        note = f"Least sure of “{words[least]}”: {_ranked(labels, shares[least])}."
        if read < len(words):
            note += f" The model reads the first {read:,} of {len(words):,} words only; the others get no tag."
        if read > MOST_SHOWN:
            note += f" The first {MOST_SHOWN} words are shown."
        kept = keep(grid, lambda: columns_of(word=words[:read], tag=[labels[tag] for tag in said], probability=sure))
        return {"row": kept, "note": note}

    def on_tag_sample(self, subject: Subject, sample: str) -> Change:
        """One of the sentences that are there to be tried."""
        return settle(tag_tried=sample)


def _ranked(labels: tuple[str, ...], shares: np.ndarray) -> str:
    """The two likeliest tags of a word."""
    return ", ".join(f"{labels[place]} {whole_percent(float(shares[place]))}" for place in np.argsort(-shares)[:2])
