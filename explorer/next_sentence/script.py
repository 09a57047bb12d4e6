"""Scripts of the Next sentence tab: the head's answer for one pair or many."""

from collections.abc import Sequence
from typing import Any

from explorer.next_sentence.pairs import _pairs_of
from explorer.text.lines import split_lines
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script, written
from explorer.ui.subject import Subject
from explorer.ui.view import View


def _one(question: str, subject: Subject, text_a: str, text_b: str) -> str:
    names = Names.of(subject)
    first, second = subject.model.pair_names
    return script(
        question,
        names.opened(),
        names.encoded(text_a, text_b),
        f"""
        logits = model(**inputs).{names.pair_logits}[0]  # {first}, {second}
        probabilities = logits.softmax(-1)
        print("{first} {{:.2%}}, {second} {{:.2%}}".format(*probabilities.tolist()), logits)
        """,
    )


def this_pair(view: View, subject: Subject) -> str:
    """The pair A, B."""
    return _one(view.question, subject, subject.text_a, subject.text_b)


def swapped(view: View, subject: Subject) -> str:
    """The pair B, A."""
    return _one(view.question, subject, subject.text_b, subject.text_a)


def _many(question: str, subject: Subject, *parts: str) -> str:
    names = Names.of(subject)
    untyped = names.untyped().replace("\n", "\n            ")
    return script(
        question,
        names.opened(),
        *parts,
        f"""
        logits = []
        for a, b in pairs:
            inputs = {names.tokenized("a, b")}{untyped}
            logits.append(model(**inputs).{names.pair_logits}[0])
        logits = torch.stack(logits)  # [pairs, 2]: {", ".join(subject.model.pair_names)}
        probabilities = logits.softmax(-1)[:, 0]
        differences = logits[:, 0] - logits[:, 1]
        for place in differences.argsort(descending=True).tolist():
            print(f"{{probabilities[place]:.2%}} {{differences[place]:+.2f}}", *pairs[place])
        """,
    )


def many(view: Any, subject: Subject) -> str:
    """All pairs of the table."""
    names = Names.of(subject)
    return _many(view.question, subject, written("pairs", [tuple(names.texts(*pair)) for pair in _pairs_of(view.pairs)]))


def candidates(view: Any, subject: Subject) -> str:
    """A with each candidate."""
    names, b = Names.of(subject), subject.text_b.strip()
    texts: Sequence[str] = list(dict.fromkeys([*split_lines(view.candidates), *([b] if b else [])]))
    first = f"text_a = {names.texts(subject.text_a)[0]!r}"
    pairs = "pairs = [(text_a, candidate) for candidate in candidates]"
    return _many(view.question, subject, first, written("candidates", names.texts(*texts)), pairs)


CODE = {
    "next-sentence/pair": this_pair,
    "next-sentence/swapped": swapped,
    "next-sentence/pairs": many,
    "next-sentence/candidates": candidates,
}
