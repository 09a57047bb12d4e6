"""Finds where a text contains a run of words from our own test sentences.

A score on sentences that the model was trained on says nothing. So no run of five words of a test sentence may be in the training
text; a blank matches any word, so that the frame of a sentence may not occur with another word either. A sentence of fewer than
five words is a run by itself. Training leaves out the lines that contain such a run.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.pretraining.own_tests import blanks, pairs

RUN = 5  # words
BLANK, END = "[mask]", 1  # END separates two lines; 0 is any word that is in no test sentence
WORD = re.compile(r"\[mask\]|[^\W_]+")


class Runs:
    """The runs of some sentences, to be found in other text; case and punctuation are ignored."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = tuple(sentences)
        cut = [WORD.findall(sentence.lower()) for sentence in sentences]
        known = sorted({word for words in cut for word in words if word != BLANK})
        self.ids = {word: number for number, word in enumerate(known, start=END + 1)}
        self.powers = (len(known) + END + 1) ** np.arange(RUN)  # a run's key is a number with its word ids as digits
        # For each run length and position of its blank (-1: none), the sentence of each key.
        self.shapes: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for number, words in enumerate(cut):
            size = min(RUN, len(words))
            for run in (words[i : i + size] for i in range(len(words) - size + 1)):
                key = sum(self.ids[word] * int(power) for word, power in zip(run, self.powers, strict=False) if word != BLANK)
                self.shapes[size, run.index(BLANK) if BLANK in run else -1].setdefault(key, number)

    def find(self, lines: Sequence[str]) -> list[tuple[int, int]]:
        """The lines that contain a run, as (line, sentence), by line; each line once."""
        ids, owners = [], []  # the ids of all words, with END after every line, and the line of each
        for number, line in enumerate(lines):
            known = [self.ids.get(word, 0) for word in WORD.findall(line.lower())]
            ids += [*known, END]
            owners += [number] * (len(known) + 1)
        found: dict[int, int] = {}
        for (size, blank), keys in self.shapes.items():
            if len(ids) >= size:
                windows = np.lib.stride_tricks.sliding_window_view(np.array(ids), size)  # [places, size]
                for place, key in self._matches(windows, blank, keys):
                    found.setdefault(owners[place], keys[key])
        return sorted(found.items())

    def find_all(self, lines: Sequence[str], at_once: int = 50_000) -> Iterator[tuple[int, int]]:
        """`find` over any number of lines, `at_once` at a time."""
        for start in range(0, len(lines), at_once):
            yield from ((start + line, sentence) for line, sentence in self.find(lines[start : start + at_once]))

    def _matches(self, windows: NDArray[np.int64], blank: int, keys: dict[int, int]) -> Iterable[tuple[int, int]]:
        """The places where a window [places, size] is one of the keys, with any word but END at `blank`."""
        digits = self.powers[: windows.shape[1]].copy()
        if blank >= 0:
            digits[blank] = 0
        values = windows @ digits  # [places]
        there = np.isin(values, list(keys))
        if blank >= 0:
            there &= windows[:, blank] != END
        return ((int(place), int(values[place])) for place in np.flatnonzero(there))


def own_runs() -> Runs:
    """The runs of our own blanks and pairs."""
    sentences = [blank.sentence for blank in blanks()]
    return Runs(sentences + [text for pair in pairs() for text in (pair.first, pair.second)])
