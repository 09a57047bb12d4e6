"""Byte pair encoding beside the pieces of the model."""

from typing import Any

from explorer.tokens import merging
from explorer.ui.layout import col, row
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import number
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, caption, part, sentence

MOST_WORDS = 24
LAST = 12  # merges that are listed
CUT = [Column("word", "name"), Column("by byte pairs", "text"), Column("by this model", "text")]
MERGES = [Column("merge", "name"), Column("two pieces", "text"), Column("become", "text"), Column("times", "number")]


class BytePairs(View):
    """The words of the input, cut by merges that are learned from the app's own sentences."""

    name, question = "tokens/byte-pairs", "How would byte pairs cut the same words?"
    layout = (row(col("merges", "about", "cut", width=3), col("listed", "help", width=2)),)
    merges: int = number(200, "Merges", low=0, high=merging.MOST, step=10)
    about = sentence()
    cut = part("strips")
    listed = part("strips")
    help = caption(
        "**Byte pair encoding** (BPE; Sennrich et al. 2016, section 3.2; GPT and RoBERTa use it) begins with single letters and "
        "makes one piece of the two that stand side by side most often, again and again: move the slider and watch the pieces "
        "grow. · closes a word. A new word is cut by the same merges in the same order. **WordPiece** (Schuster & Nakajima "
        "2012), which BERT uses, learns in the same way, but joins the two that make the text most probable: not two that are "
        "frequent anyway. It cuts a new word from the left, each time with the longest piece that it knows; ## continues a word. "
        "These merges are learned from the app's own sentences, a few thousand words; a model's from billions."
    )

    def compute(self, subject: Subject) -> Content:
        done = merging.own_merges()[: self.merges]
        words = _words(subject)
        cut = [merging.apply(word, done) for word in words]
        rows = [Row([word, " ".join(one), " ".join(own)]) for (word, own), one in zip(words.items(), cut, strict=True)]
        mean, own_mean = (sum(map(len, pieces)) / max(1, len(words)) for pieces in (cut, words.values()))
        known = subject.model.capabilities.vocab_size
        return {
            "about": f"After {len(done):,} merges a word here has {mean:.1f} pieces on average; this model, with its vocabulary "
            f"of {known:,}, makes {own_mean:.1f}.",
            "cut": strip_table(CUT, rows, "the words in both cuts"),
            "listed": _listed(done),
        }

    def unless(self, subject: Subject) -> str:
        """Without a word there is nothing to cut."""
        return "" if _words(subject) else "There is no word of letters to cut; type one."

    def finding(self, subject: Subject) -> Finding:
        word = max(_words(subject), key=len)
        pieces = merging.apply(word, merging.own_merges()[: self.merges])
        named = ", ".join(f"“{piece}”" for piece in pieces)
        return Finding(f"After {self.merges:,} merges, “{word}” is {len(pieces)} piece{'s' * (len(pieces) != 1)}: {named}.")


def _words(subject: Subject) -> dict[str, list[str]]:
    """The first MOST_WORDS different words of the input, in small letters, with the model's pieces."""
    encoding, found = subject.trace.encoding, dict[str, list[str]]()
    for group in encoding.text_words:
        word = encoding.word(group).casefold()
        if word.isalpha() and len(found) < MOST_WORDS:
            found.setdefault(word, [encoding.tokens[token] for token in group])
    return found


def _listed(done: tuple[merging.Merge, ...]) -> dict[str, Any]:
    """The last merges, the newest first."""
    newest = list(enumerate(done, start=1))[: -LAST - 1 : -1]
    rows = [Row([f"{place:,}", " + ".join(merge.pair), "".join(merge.pair), merge.count]) for place, merge in newest]
    return strip_table(MERGES, rows, "the last merges")
