"""A tagger and an answerer tried on your own text: the tag of each word, or the span that answers a question."""

from typing import Any

import numpy as np

from explorer.bert.explorer import load
from explorer.core.errors import InputError
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.predictor import as_kind
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.spans import Answer
from explorer.finetune.compute.words import Tagger
from explorer.finetune.opening import OUTSIDE
from explorer.finetune.pictures import passage
from explorer.text import limits
from explorer.text.characters import has_visible_characters
from explorer.text.tagged import split_words
from explorer.ui.pictures.bars import percent, short_percent, whole_percent
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_grid import word_grid
from explorer.ui.view import Content

MOST_SHOWN = 60  # words


def tag_words(run: Run, text: str) -> Content:
    """A tag under each word of a text, and how sure it is. Raises InputError."""
    words = split_words(text)
    if not words:
        return {"note": ""}
    limits.check_text(text, "the sentence")
    labels, predictor = run.predictor.labels, as_kind(run.predictor, Tagger)
    (shares,) = predictor.tag(load(predictor.model), [words])
    read, said, sure = len(shares), shares.argmax(-1), shares.max(-1)
    if not read:
        raise InputError("The model reads none of these words. Type others.")
    seen = [0.0 if labels[tag] == OUTSIDE else float(share) for tag, share in zip(said, sure, strict=True)]
    cells = [(labels[tag], one, _ranked(labels, row)) for tag, one, row in zip(said, seen, shares, strict=True)]
    odds = [(short_percent(float(share)), 0.0, "") for share in sure]
    grid = word_grid("word", words[:MOST_SHOWN], ["tag", "how sure"], [cells[:MOST_SHOWN], odds[:MOST_SHOWN]])
    least = int(sure.argmin())
    note = f"Least sure of “{words[least]}”: {_ranked(labels, shares[least])}."
    if read < len(words):
        note += f" The model reads the first {read:,} of {len(words):,} words only; the others get no tag."
    if read > MOST_SHOWN:
        note += f" The first {MOST_SHOWN} words are shown."
    kept = keep(grid, lambda: columns_of(word=words[:read], tag=[labels[tag] for tag in said], probability=sure))
    return {"row": kept, "note": note}


def _ranked(labels: tuple[str, ...], shares: np.ndarray) -> str:
    return ", ".join(f"{labels[place]} {whole_percent(float(shares[place]))}" for place in np.argsort(-shares)[:2])


def answer_question(run: Run, question: str, text: str) -> Content:
    """The answer marked in its text, and where each token may begin and end it."""
    if not (has_visible_characters(question) and has_visible_characters(text)):
        return {"said": "Type a question and a text.", "note": ""}
    found = as_kind(run.predictor, Answerer).answer(load(run.predictor.model), question, text)
    return {
        "found": passage(text, found.start, found.end),
        "said": _verdict(found),
        "row": _boundaries(found),
        "note": (
            f"How likely each token of the text begins and ends the answer; [CLS] is for no answer. {_part(found, text)}".strip()
        ),
    }


def _verdict(found: Answer) -> str:
    if found.text:
        return f"“{found.text}”, with {percent(found.score)}; no answer, {percent(found.no_answer)}."
    return f"No answer, with {percent(found.no_answer)}; the best span has {percent(found.score)}."


def _boundaries(found: Answer) -> dict[str, Any]:
    """Below each token of the text, and [CLS] for no answer, the probability that it begins and ends the answer."""
    encoding = found.window.encoding
    places = [0, *(token for token in found.window.text_tokens if token < len(found.shares))]
    tokens = [encoding.tokens[token] for token in places]
    shares = found.shares[places]
    cells = [[(percent(float(share)), float(share), "") for share in shares[:, side]] for side in range(2)]
    outlined = (0, places.index(found.span[0] if found.text else 0))
    row = word_grid("token", tokens, ["begins", "ends"], cells, outlined=outlined)
    return keep(row, lambda: columns_of(position=places, token=tokens, begins=shares[:, 0], ends=shares[:, 1]))


def _part(found: Answer, text: str) -> str:
    """The part of a long text that was read, '' if it is all of it."""
    begin, end = found.window.begin, found.window.begin + len(found.window.encoding.text_b)
    return (
        f"The text was read in windows; this is that of characters {begin + 1:,} to {end:,}." if end - begin < len(text) else ""
    )
