"""Trying the tagger on your own sentence."""

import numpy as np

from explorer.analysis.evaluation import by_sentence
from explorer.bert.explorer import load
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS
from explorer.finetune.compute.predictor import Tagger, of_kind
from explorer.finetune.compute.run import HeldOutTags, Run
from explorer.finetune.run import OfTaggers, RunView
from explorer.finetune.words_examples import OPENING, OUTSIDE
from explorer.text import limits
from explorer.text.tagged import split_words
from explorer.training.tagging import built_in_tagged
from explorer.ui.layout import row
from explorer.ui.pictures.bars import percent, whole_percent
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.settings import choice, memory, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, part, props, sentence, settle

SENTENCES = (
    "May Brown works for Apple in London and may leave in May.",
    "Rose planted a rose in Boston last May.",
    "The United Nations opened an office in Turkey in 1995.",
    "We ate the turkey that Peter had cooked on Sunday.",
    "Grace left Google in 2010 and bought a farm in Turkey.",
)
MOST_SHOWN = 60  # words
MOST_OFFERED = 6  # of the run's held-out sentences


def offered(value: object) -> str:
    """The sentence offered by the view, from a browser's memory."""
    return value[: CHARACTERS.most] if isinstance(value, str) else ""


class WordTry(OfTaggers, RunView):
    """A text with a tag under each word."""

    name, question = "fine-tune/words-try", "Which tags does it give the words of your own sentence?"
    layout = (row("tag_tried", "tag_sample"),)
    tag_tried: str = text(SENTENCES[0], "Try it on a sentence", scale=5)
    tag_offered: str = memory(SENTENCES[0], kept=offered, linked=False)
    tag_sample: str = choice(SENTENCES, "or one of these", default="", menu=True, free=True, linked=False, scale=2, min_width=120)
    row = part("words", optional=True, answer=True)
    note = sentence(classes="caption", keep_height=True, answer=True)

    def show_run(self, subject: Subject, run: Run) -> Content:
        samples = _samples(run)
        tried = (
            samples[0] if self.tag_tried in (self.tag_offered, *SENTENCES) and self.tag_tried not in samples else self.tag_tried
        )
        shown: Content = {"tag_sample": props(choices=samples)}
        if tried != self.tag_tried:
            shown |= {"tag_tried": tried, "tag_offered": tried}
        words = split_words(tried)
        if not words:
            return {**shown, "note": ""}
        limits.check_text(tried, "the sentence")
        labels, predictor = run.predictor.labels, of_kind(run.predictor, Tagger)
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
        return {**shown, "row": kept, "note": note}

    def on_tag_sample(self, subject: Subject, sample: str) -> Change:
        return settle(tag_tried=sample, tag_offered=sample)


def _samples(run: Run) -> list[str]:
    """Sentences to try: our own for names, else held-out ones of the run, those with the most different tags first."""
    if set(run.predictor.labels) == set(built_in_tagged(OPENING).classes) or run.held_out is None:
        return list(SENTENCES)
    held = run.held(HeldOutTags)
    sentences = by_sentence(held.sentences, held.words)
    tags = by_sentence(held.sentences, [run.predictor.labels[tag] for tag in held.targets])
    order = sorted(range(len(sentences)), key=lambda row: -len(set(tags[row])))
    return [" ".join(sentences[row]) for row in order[:MOST_OFFERED]]


def _ranked(labels: tuple[str, ...], shares: np.ndarray) -> str:
    """The two most probable tags of a word."""
    return ", ".join(f"{labels[place]} {whole_percent(float(shares[place]))}" for place in np.argsort(-shares)[:2])
