"""The sentences of a corpus by the model's surprise, and which hidden tokens its first guess finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.corpus.compute.hiding import HiddenTokens
from explorer.corpus.compute.plain import flaws
from explorer.corpus.source import Look
from explorer.text import limits
from explorer.text.corpora import Corpus, built_in
from explorer.text.dependencies import spell_out
from explorer.ui.pictures.bars import bar_groups, whole_percent
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.subject import Subject
from explorer.ui.telling import stands_out
from explorer.ui.view import Content, Finding, NewInput, read

MOST, LEAST, PLAIN = "most surprising", "least surprising", "plain ones first"
FEWEST = 15  # hidden tokens of a group; the share of fewer says little
OFTEN = ((1, "once"), (5, "2 to 5 times"), (50, "6 to 50 times"), (np.inf, "more often"))
READ = (
    "The bundled model read the text of more than half of these sentences in training. Load your own for text that it never saw."
)
BY_TAG = "Right by part of speech"


def sentence_lines(corpus: Corpus, rows: Sequence[int], bits: np.ndarray | None = None) -> dict[str, object]:
    """A row per sentence, with its number of words and the surprise [sentences] in bits if it is known."""
    columns = [Column("sentence", "name"), Column("words", "number", form="d")]
    columns += [] if bits is None else [Column("surprise", "number", form=".1f")]
    cells = [[corpus.texts[row], len(corpus.sentences[row].words), 0.0 if bits is None else float(bits[row])] for row in rows]
    listed = [Row(each[: len(columns)], row) for row, each in zip(rows, cells, strict=True)]
    return strip_table(columns, listed, "Sentences", "sentence_number")


@dataclass(frozen=True)
class Surprising(Look):
    """All sentences with `word` in them; `hidden` is None without a masked-LM head."""

    corpus: Corpus = field(repr=False)
    hidden: HiddenTokens | None = field(repr=False)
    word: str
    order: str
    limit: int

    def rows(self, subject: Subject) -> list[int]:
        """Indices of the sentences that contain the word, in the chosen order."""
        searched, hidden = subject.model.searched, self.hidden
        wanted = searched(self.word)
        rows = [row for row, one in enumerate(self.corpus.sentences) if wanted in searched(one.text)]
        if self.order == PLAIN or hidden is None:
            return sorted(rows, key=lambda row: flaws(self.corpus.sentences[row]))
        bits = hidden.by_sentence()
        return sorted(rows, key=lambda row: bits[row], reverse=self.order == MOST)

    def shown(self, subject: Subject) -> Content:
        """The sentences, and the share of hidden tokens guessed right in them."""
        rows, corpus, hidden = self.rows(subject), self.corpus, self.hidden
        words = f"{corpus.cited}, {corpus.words:,} words."
        known = READ if corpus.key == built_in().key else ""
        lead = f"{len(rows):,} of {len(corpus.sentences):,} sentences, of which {min(self.limit, len(rows))} are listed."
        shown: Content = {
            "hits": sentence_lines(corpus, rows[: self.limit], None if hidden is None else hidden.by_sentence()),
            "about": " ".join(filter(None, (lead, words, corpus.about, known))),
            "common": None,
        }
        if hidden is None:
            return shown
        listed = hidden.rows[np.isin(hidden.tokens.sentence[hidden.rows], rows)]
        groups = [(heading, self._shares(listed, of)) for heading, of in self._groups().items()]
        return shown | {"common": bar_groups([group for group in groups if group[1]])}

    def finding(self, subject: Subject) -> Finding | None:
        """The share of all hidden tokens guessed right, and the parts of speech with the most and the least."""
        if (hidden := self.hidden) is None:
            return None
        groups = self._groups()
        tags = self._shares(hidden.rows, groups[BY_TAG]) if BY_TAG in groups else []
        every = f"Of {len(hidden.rows):,} hidden tokens in the whole corpus the model guesses"
        right = f"{every} {whole_percent(float(hidden.right.mean()))} right"
        if len(tags) < 2:
            return Finding(f"{right}.")
        (best, most, _), (worst, least, _) = tags[0], tags[-1]
        if not stands_out(most):
            return Finding(f"{every} almost none right.")
        return Finding(f"{right}: of {best} {whole_percent(most)}, of {worst} {whole_percent(least)}.")

    def open(self, subject: Subject, index: object) -> NewInput:
        rows = self.rows(subject)[: self.limit]
        return read(self.corpus.texts[rows[limits.check_integer(index, "the sentence", 0, len(rows) - 1)]])

    def _groups(self) -> dict[str, Callable[[int], str]]:
        """Groupings of hidden tokens: a heading, and a function from a token (its index in the corpus) to its group."""
        corpus, tokens = self.corpus, self.hidden.tokens  # type: ignore[union-attr]

        def tag(row: int) -> str:
            tags = corpus.sentences[tokens.sentence[row]].tags
            return spell_out(tags[tokens.word[row]]) if tags else "(no tag)"

        def often(row: int) -> str:
            word = corpus.sentences[tokens.sentence[row]].words[tokens.word[row]]
            times = round(corpus.share("word", word.lower()) * corpus.words)
            return next(name for most, name in OFTEN if times <= most)

        by_tag: dict[str, Callable[[int], str]] = {BY_TAG: tag} if corpus.tags else {}
        return {**by_tag, "Right by how often the word occurs": often}

    def _shares(self, rows: np.ndarray, of: Callable[[int], str]) -> list[tuple[str, float, str]]:
        """For each group with enough hidden tokens the share guessed right, the largest first, and the number of tokens."""
        hidden = self.hidden
        right = dict(zip(hidden.rows.tolist(), hidden.right.tolist(), strict=True))  # type: ignore[union-attr]
        groups: dict[str, list[bool]] = {}
        for row in rows.tolist():
            groups.setdefault(of(row), []).append(right[row])
        shares = [(name, sum(each) / len(each), f"of {len(each):,}") for name, each in groups.items() if len(each) >= FEWEST]
        return sorted(shares, key=lambda share: -share[1])
