"""The sentences of a corpus, filtered and sorted, with the model's surprisal at each, and where its guesses are right."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable

import numpy as np

from explorer.core.limits import QUERY
from explorer.core.steps import map_steps
from explorer.corpus.compute import hiding
from explorer.corpus.compute.hiding import HiddenTokens
from explorer.corpus.compute.plain import flaws
from explorer.corpus.source import NO_FILE, CorpusView
from explorer.text import limits
from explorer.text.corpora import Corpus, built_in
from explorer.text.dependencies import spell_out
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import bar_groups, ranking, whole_percent
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.settings import choice, number, text
from explorer.ui.subject import Subject
from explorer.ui.telling import stands_out
from explorer.ui.view import Content, Finding, NewInput, button, caption, part, props, prose, read, sentence

PLAIN, AS_THEY_COME = "plain ones first", "as they come"
ORDERS = (PLAIN, AS_THEY_COME, "most surprising", "least surprising", "longest", "shortest")
SHOWN = 30  # rows
FEWEST = 15  # masked tokens of a slice; the share of fewer says little
LONGEST = 60  # words: the end of the slider, which stands for any number
OFTEN = ((1, "once"), (5, "2 to 5 times"), (50, "6 to 50 times"), (np.inf, "more often"))
READ = (
    "The bundled model read the text of more than half of these sentences in training: for text that it never saw, load your own."
)
MEANING = (
    "**Surprise**: every seventh token is hidden, always the same ones, and the corpus read once; −log₂ of the probability of "
    "what was there, on average (bits). Of a short sentence that is one token: another might surprise more. "
    "Click a sentence: it becomes the input."
)


class Sentences(CorpusView):
    """A list of sentences, and accuracies by slices of them."""

    name, question = "corpus/sentences", "Which sentences surprise the model?"
    layout = (row(col("table", "stop", "progress", "about", "help", width=7), col("slices", "slices_help", width=4)),)
    contains: str = text("", "Contains", limit=QUERY, placeholder="a word or a part of one", max_lines=1, elem_classes="inline")
    tag: str = choice([("any", "")], "With a", menu=True, free=True, elem_classes="inline")
    order: str = choice(ORDERS, "Order", menu=True, elem_classes="inline")
    table = part("ranking")
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    help = prose(value=MEANING, classes="caption")
    slices = part("bars", classes="long-names")
    slices_help = caption(
        "The share of hidden tokens, 0 to 100%, that are the model's first guess, in all sentences chosen here."
    )
    shortest: int = number(1, "Words at least", low=1, high=LONGEST, heard="release", more=True)
    longest: int = number(LONGEST, "Words at most", low=1, high=LONGEST, heard="release", more=True)

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus once; 0 if it was done already."""
        corpus = self.corpus
        if corpus is None or not subject.model.capabilities.fill_mask or hiding.known(subject.model, corpus):
            return 0
        return self.one_reading(subject)

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the list; None without a corpus."""
        if self.corpus is None:
            return None
        own = self.contains, self.tag, self.order, self.shortest, self.longest
        return self.name, str(subject.model.checkpoint), self.corpus.key, own

    def work(self, subject: Subject) -> Generator[tuple[str, float], None, HiddenTokens | None]:
        """Read the corpus with tokens masked, if the model can predict them. Raises InputError."""
        corpus = self.chosen
        if not subject.model.capabilities.fill_mask:
            return None
        doing = f"Reading {len(corpus.sentences):,} sentences with tokens hidden"
        steps = hiding.hide_in_steps(subject.model, corpus)
        return (yield from map_steps(steps, lambda share: (f"{doing}: {share:.0%}", share)))

    def waiting(self, subject: Subject) -> Content:
        """The sentences, without the model's results."""
        if self.corpus is None:
            return {"table": None, "slices": None, "about": NO_FILE}
        return self._listed(subject, self.corpus, None)

    def draw(self, subject: Subject, found: HiddenTokens | None) -> Content:
        if self.corpus is None:
            return self.waiting(subject)
        shown = {**self._listed(subject, self.corpus, found), "slices": None}
        if found is None:
            return shown
        rows = set(self._rows(subject, self.corpus, None))
        listed = found.rows[[int(sentence) in rows for sentence in found.tokens.sentence[found.rows]]]
        groups = [(heading, _shares(found, listed, of)) for heading, of in _slices(self.corpus, found)]
        return shown | {"slices": bar_groups([group for group in groups if group[1]])}

    def finding(self, subject: Subject) -> Finding | None:
        corpus = self.corpus
        found = corpus and hiding.known(subject.model, corpus)
        if not corpus or not found:
            return None
        shares = dict(_slices(corpus, found))
        tags = _shares(found, found.rows, shares["By part of speech"]) if "By part of speech" in shares else []
        share = whole_percent(float(found.right.mean()))
        every = f"Of {len(found.rows):,} hidden tokens in the whole corpus the model guesses {share} right"
        if len(tags) < 2:
            return Finding(f"{every}.")
        (best, most, _), (worst, least, _) = tags[0], tags[-1]
        if not stands_out(most):
            return Finding(f"Of {len(found.rows):,} hidden tokens in the whole corpus the model guesses almost none right.")
        return Finding(f"{every}: of {best} {whole_percent(most)}, of {worst} {whole_percent(least)}.")

    def on_table(self, subject: Subject, index: object) -> NewInput:
        """Make a sentence the input. Raises InputError."""
        texts = self.corpus.texts if self.corpus else []
        return read(texts[limits.check_integer(index, "the sentence", 0, len(texts) - 1)])

    def _rows(self, subject: Subject, corpus: Corpus, bits: np.ndarray | None) -> list[int]:
        """Indices of the sentences that match the filters, in the chosen order."""
        searched = subject.model.searched
        wanted = searched(self.contains.strip())
        longest = self.longest if self.longest < LONGEST else np.inf
        rows = [
            row
            for row, one in enumerate(corpus.sentences)
            if wanted in searched(one.text)
            and (not self.tag or self.tag in one.tags)
            and self.shortest <= len(one.words) <= longest
        ]
        sizes = {"longest": -1, "shortest": 1}
        if self.order in sizes:
            rows.sort(key=lambda row: sizes[self.order] * len(corpus.sentences[row].words))
        elif self.order == PLAIN:
            rows.sort(key=lambda row: flaws(corpus.sentences[row]))
        elif self.order != AS_THEY_COME and bits is not None:
            rows.sort(key=lambda row: bits[row] if self.order == "least surprising" else -bits[row])
        return rows

    def _listed(self, subject: Subject, corpus: Corpus, found: HiddenTokens | None) -> Content:
        bits = None if found is None else found.by_sentence()
        rows = self._rows(subject, corpus, bits)
        heading = f"{len(rows):,} of {len(corpus.sentences):,} sentences"
        heading += f", of which {SHOWN} are listed" if len(rows) > SHOWN else ""
        sizes = [len(corpus.sentences[row].words) for row in rows]
        told = [f"{size} word{'s' * (size != 1)}" for size in sizes]
        if bits is not None:
            told = [f"{bits[row]:.1f} bits" for row in rows]
        shown = ranking(heading, [(row, corpus.texts[row], what) for row, what in zip(rows[:SHOWN], told, strict=False)])
        surprise = [None if bits is None else float(bits[row]) for row in rows]
        cells = [[corpus.texts[row], *numbers] for row, *numbers in zip(rows, sizes, surprise, strict=True)]
        return {
            "table": keep(shown, lambda: Table.of(("sentence", "words", "surprise"), cells)),
            "about": f"{corpus.cited}, {corpus.words:,} words. {corpus.about}{READ * (corpus.key == built_in().key)}".rstrip(),
            "tag": props(choices=[("any", ""), *((spell_out(tag), tag) for tag in corpus.tags)]),
        }


def _slices(corpus: Corpus, found: HiddenTokens) -> list[tuple[str, Callable[[int], str]]]:
    """The slicings of masked tokens: a heading, and a function from a token (its index in the corpus) to its slice."""
    tokens = found.tokens

    def often(row: int) -> str:
        word = corpus.sentences[tokens.sentence[row]].words[tokens.word[row]]
        times = round(corpus.share("word", word.lower()) * corpus.words)
        return next(name for most, name in OFTEN if times <= most)

    def where(row: int) -> str:
        share = (tokens.position[row] - 1) / max(1, tokens.lengths[tokens.sentence[row]] - 3)
        return ("in the first third", "in the middle", "in the last third")[min(2, int(3 * share))]

    found_by: list[tuple[str, Callable[[int], str]]]
    found_by = [("By how often the word is in the corpus", often), ("By place in the sentence", where)]
    if corpus.tags:
        found_by.insert(0, ("By part of speech", lambda row: _tag_of(corpus, tokens.sentence[row], tokens.word[row])))
    return found_by


def _tag_of(corpus: Corpus, sentence: int, word: int) -> str:
    tags = corpus.sentences[sentence].tags
    return spell_out(tags[word]) if tags else "(no tag)"


def _shares(found: HiddenTokens, rows: np.ndarray, of: Callable[[int], str]) -> list[tuple[str, float, str]]:
    """For each slice with enough masked tokens the share guessed right, the largest first, and the number of tokens."""
    right = dict(zip(found.rows.tolist(), found.right.tolist(), strict=True))
    slices: dict[str, list[bool]] = {}
    for place in rows:
        slices.setdefault(of(place), []).append(right[int(place)])
    shares = [(name, sum(each) / len(each), f"of {len(each):,}") for name, each in slices.items() if len(each) >= FEWEST]
    return sorted(shares, key=lambda share: -share[1])
