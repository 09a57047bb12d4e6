"""What reads typed text takes linear time, whatever is typed, and so does what counts or joins in a loop."""

import time
from contextlib import suppress

import pytest

from explorer.core.errors import ExplorerError
from explorer.experiments.compute.items import Item, items_from_lines
from explorer.finetune.compute import questions
from explorer.finetune.compute.answers import normalise_answer, overlap_answer
from explorer.hidden_states.word import find_word, repeated_words
from explorer.teaching.classroom import names
from explorer.text import swaps
from explorer.text.blanks import Blanks
from explorer.text.lines import pairs_from_lines, read_lines, split_lines
from explorer.text.sentences import sentence_starts
from explorer.text.tagged import split_words
from explorer.tokens.vocabulary import search
from tests.fuzz.runs import UNITS, text_of

TEMPLATE = "{a} [MASK] | is | are\n"
READERS = {
    "lines": split_lines,
    "lines with labels": read_lines,
    "pairs": pairs_from_lines,
    "items": items_from_lines,
    "marks": lambda text: Item(text, text, "", "").row,
    "a template": lambda text: items_from_lines(f"{text}\na = b"),
    "a line of a template": lambda text: items_from_lines(f"{text} [MASK] | is | are\na = b, c"),
    "values of a slot": lambda text: items_from_lines(f"{TEMPLATE}a = {text}"),
    "names of slots": lambda text: items_from_lines(f"{TEMPLATE}{text} = b, c"),
    "an answer": lambda text: questions.place("who?", text[:-2], text),
    "an answer without BERT": lambda text: overlap_answer(questions.Question(text, text, (text[:5],), 0)),
    "an answer that is compared": normalise_answer,
    "sentences": sentence_starts,
    "words": split_words,
    "words that occur twice": lambda text: repeated_words([text]),
    "a word": lambda text: find_word(text, text[:99], [(0, 1)]),
    "words to swap": swaps.find_swaps,
    "blanks": lambda text: Blanks((text, text)).spans,
    "a search of the vocabulary": lambda text: search([text], text[:99]),
    "a nickname": lambda text: names.nickname(text, []),
    "a room's word": names.as_word,
}
SMALL, LARGE = 4_000, 16_000  # characters
MOST_TIMES, A_MOMENT = 8, 0.004  # a linear reader takes 4 times as long for the second, a quadratic one 16 times; seconds
TRIES = 4  # since memory is given back now and then


def seconds(read, text):
    start = time.thread_time()
    with suppress(ExplorerError):
        read(text)
    return time.thread_time() - start


def slow_on(read, units=UNITS):
    """The runs for which a reader takes more than linear time."""
    found = []
    for unit in units:
        small = large = 1.0
        for _ in range(TRIES):
            small = min(small, seconds(read, text_of(unit, SMALL)))
            large = min(large, seconds(read, text_of(unit, LARGE)))
            if large < max(A_MOMENT, MOST_TIMES * small):
                break
        else:
            found.append(unit)
    return found


@pytest.mark.parametrize("reader", READERS)
def test_what_reads_typed_text_takes_linear_time(reader):
    assert slow_on(READERS[reader]) == []


def test_what_takes_the_square_is_found():
    assert slow_on(lambda text: [text.count(one) for one in text], [" "])
