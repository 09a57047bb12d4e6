"""What examples there are, in a sentence and as bars, for every kind of task."""

from collections import Counter

import numpy as np

from explorer.finetune.compute.questions import Questions
from explorer.finetune.compute.span_task import room
from explorer.finetune.run import is_few
from explorer.finetune.sources import HANDFUL, AnyExamples, asks
from explorer.training.examples import ScoredExamples
from explorer.training.tagging import TaggedExamples
from explorer.ui.pictures.bars import bars
from explorer.ui.subject import Subject
from explorer.ui.view import Content

MOST_BARS = 8
FEW_SENTENCES = 100  # a fifth of fewer says little
CHARACTERS_PER_TOKEN = 4  # in English, about


def describe(subject: Subject, examples: AnyExamples, note: str) -> Content:
    """How many examples there are, what is held out, and bars of what they are about."""
    if isinstance(examples, Questions):
        return _describe_questions(subject, examples, note)
    if isinstance(examples, TaggedExamples):
        return _describe_tags(subject, examples, note)
    kind = "pairs of sentences" if examples.texts_b else "sentences"
    held_out = "a part of each class is held out, a fifth unless you choose another, and never trained on"
    if is_few(examples):
        held_out = "each is left out in turn, to judge a head alone"
    if isinstance(examples, ScoredExamples):
        about = f"{len(examples):,} {kind}, each with a number; {held_out.replace('class', 'fifth of the numbers')}. {note}"
        return {"about": about, "balance": bars(_spread(examples))}
    return _balance(f"{len(examples):,} {kind}; {held_out}. {note}", "classes", Counter(examples.counts))


def _describe_tags(subject: Subject, examples: TaggedExamples, note: str) -> Content:
    held_out = "a fifth of the sentences, unless you choose another share, is held out and never trained on"
    if len(examples) < FEW_SENTENCES:
        held_out += "; with so few, what is right there is much a matter of luck"
    most = subject.model.capabilities.max_tokens - 2  # [CLS] and [SEP] count too
    if (long := sum(len(sentence.words) > most for sentence in examples.sentences)) > 0:
        note += f" The model reads the first {most:,} pieces of {long:,} of them; the words after these are left out."
    about = f"{len(examples):,} sentences with {len(examples.words):,} words; {held_out}. {note}"
    return _balance(about, "tags", examples.counts)


def _describe_questions(subject: Subject, questions: Questions, note: str) -> Content:
    characters = sum(len(question) + len(about) for question, about in questions.pairs)
    share = room(subject.model.capabilities.hidden_size) * CHARACTERS_PER_TOKEN / characters
    if share < 1:
        note += f" About {share:.0%} of them fit into memory, and are learned from."
    few = "; the ways of asking are hardly learned from so few" if len(questions) < HANDFUL else ""
    about = (
        f"{len(questions):,} questions on {len(questions.texts):,} texts, {questions.unanswered:,} of them without an answer "
        f"there; all questions on about a fifth of the texts are held out, and never trained on{few}. {note}"
    )
    return _balance(about, "", Counter(asks(row.question) for row in questions.rows))


def _balance(about: str, what: str, counted: Counter[str]) -> Content:
    """The sentence, and bars of the most frequent labels."""
    largest, total = counted.most_common(MOST_BARS), counted.total()
    more = f" The {len(largest)} largest of {len(counted)} {what}:" if what and len(counted) > len(largest) else ""
    return {"about": f"{about}{more}", "balance": bars([(label, count / total, f"{count:,}") for label, count in largest])}


def _spread(examples: ScoredExamples) -> list[tuple[str, float, str]]:
    """The share of the numbers in each fifth of their range."""
    counts, edges = np.histogram(examples.numbers, bins=5)
    ranges = zip(counts, edges, edges[1:], strict=False)
    return [(f"{low:.3g} to {high:.3g}", count / len(examples), f"{count:,}") for count, low, high in ranges]
