"""What nobody expects of a corpus, in every choice of the Corpus tab: a sentence that says what to do, or an answer."""

import pytest

import explorer
from explorer.core.errors import InputError
from explorer.corpus.heads import NEURON, Heads
from explorer.corpus.search import WAYS, WORD, Search
from explorer.corpus.source import FILE
from explorer.corpus.tab import TAB
from explorer.ui.subject import Subject
from tests.corpora import read_corpus

pytestmark = pytest.mark.usefixtures("own_runs")


def row(number, word, head="_", tag="_", relation="_"):
    return "\t".join((str(number), word, "_", tag, "_", "_", str(head), relation, "_", "_"))


TREE = f"{row(1, 'dogs', 2, 'NOUN', 'nsubj')}\n{row(2, 'ran', 0, 'VERB', 'root')}"
IMAGE, TEMPLATE, ACCENT = "<img src=x onerror=alert(1)>", "${alert(1)}", "\u0301"
REFUSED = {  # test_corpus.py has broken treebanks
    "blank lines": ("\n \u200b\n\t\n", "has no sentences"),
    "accents and nothing below": ("\u0301\u0301\n\ufe0f\n\ufffd\n\ue000", "has no sentences"),
    "zeros": ("a\x00b", "not text that can be read"),
    "too long a word": (f"The man.\n{'m' * 100_000}", "Line 2 has 100,000 characters"),
    "only a range of words": (row("1-2", "dogs"), "has no sentences"),
}
ANSWERED = {
    "one sentence": "The man went to the store.\n" * 50,
    "one word": "milk",
    "characters": "\n".join(
        (
            *("\U0001f600", "I \u2764\ufe0f you \U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"),
            *("\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643", "\u202eabc\u202c"),
            *("a\x07b", "\x1b[31mred\x1b[0m", "\x01\x02", "c\u2028d\x0ce\x85f", ACCENT, "The man went.", "\ufffd"),
            *(IMAGE, TEMPLATE),
        )
    ),
    "one letter a word, cut off": "a " * 100,
    "blanks and other specials": "[MASK] [MASK]\n[CLS]\n[SEP]\n[PAD] [UNK]\nthe [MASK] went",
    "only signs": "!!! ??? ...\n-- --",
    "a treebank without heads": f"{row(1, 'dogs', tag='NOUN')}\n{row(2, 'ran', tag='VERB')}",
    "a treebank with nothing but words": f"{row(1, 'dogs')}\n{row(2, 'ran')}",
    "some sentences with tags": f"{TREE}\n\n{row(1, 'milk')}",
    "no trees": "\n\n".join(  # a word that is its own head, a circle, two roots
        TREE.replace(*change) for change in (("2\tnsubj", "1\tnsubj"), ("\t0\troot", "\t1\troot"), ("2\tnsubj", "0\troot"))
    ),
    "a treebank of tags": f"{row(1, IMAGE, 2, '<b>', '<script>')}\n{row(2, TEMPLATE, 0, '{{x}}', 'root')}",
    "a treebank cut off": "\n".join(row(number, "man", number - 1, "NOUN", "flat") for number in range(1, 100)),
    "a word of which nothing is left": f"{row(1, ACCENT, 2, 'SYM', 'dep')}\n{row(2, 'ran', 0, 'VERB', 'root')}",
}
INSIDE_A_BLANK = "blanks and other specials"  # where the most frequent word stands in one


@pytest.fixture(scope="module")
def short(make_tiny):
    """A model that cuts off what has more than 64 tokens."""
    return explorer.load(make_tiny(max_position_embeddings=64))


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_gets_a_sentence(name, write, refusal):
    text, said = REFUSED[name]
    assert said in refusal(InputError, lambda: read_corpus(write(text, "own.txt")))


@pytest.mark.filterwarnings("error::RuntimeWarning")  # of numbers that are none
@pytest.mark.parametrize("name", ANSWERED)
def test_every_choice_answers_any_other(name, write, short, refusal):
    corpus = read_corpus(write(ANSWERED[name], "own.txt"))
    subject = Subject.of(short.trace("She sat on the bank of the river."))
    views = [view(source=FILE, file=corpus) for view in TAB.views]
    views += [Search(source=FILE, file=corpus, compare=way) for _, way in WAYS[1:]]
    views += [Heads(source=FILE, file=corpus, unit=NEURON)]
    for view in views:
        own = view.first(subject)
        view.passes(own)
        view.waiting(own)
        if getattr(view, "compare", "") == WORD and name == INSIDE_A_BLANK:
            assert "no token of its own" in refusal(InputError, lambda view=view, own=own: view.compute(own))
            continue
        shown = view.compute(own)
        assert any(shown.get(part) for part in view.parts)
        view.finding(own)
        if shown.get("hits") and view.on_hits(own, 0).texts[0] not in corpus.texts:
            pytest.fail(f"{view} leads elsewhere")
