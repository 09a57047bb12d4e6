"""The kind of task, and tasks with well-known names: the kind of each, and the matching examples of this app."""

from typing import Any, NamedTuple

from explorer.finetune.kinds import ANSWERS, KINDS, MIDDLE, READY, TEXTS, WORDS, of_kind
from explorer.finetune.recipe import defaults
from explorer.ui.layout import col, row
from explorer.ui.settings import choice
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, View, sentence, settle

HINT = "A task you know by name …"
GLUE = "GLUE, Wang et al. 2018"


class Task(NamedTuple):
    """A task with a well-known name."""

    called: str
    given: str  # the input
    wanted: str  # the output
    source: str
    kind: str
    ready: str  # the built-in set of its kind

    def read_after(self, layers: int) -> int:
        """The hidden state that the head reads in a model of so many layers; 0: as the kind has it."""
        return 0 if self.kind != TEXTS or self.ready == "sentiment" else round(MIDDLE * layers)

    def sentence(self, layers: int) -> str:
        """The task, and the examples chosen for it, in a sentence."""
        head = f", and a head on hidden state {place}" if (place := self.read_after(layers)) else ""
        chosen = KINDS[self.kind].sets[self.ready].split(":")[0]
        return f"{self.called}: {self.given} → {self.wanted} ({self.source}). Chosen: {chosen}, in our own words{head}."


TASKS = {
    "SST-2": Task("Stanford Sentiment Treebank", "a sentence on a film", "positive or negative", GLUE, TEXTS, "sentiment"),
    "CoLA": Task("Corpus of Linguistic Acceptability", "a sentence", "whether it is acceptable English", GLUE, TEXTS, "grammar"),
    "MRPC": Task(
        "Microsoft Research Paraphrase Corpus", "two sentences", "whether they mean the same", GLUE, TEXTS, "same_meaning"
    ),
    "QQP": Task("Quora Question Pairs", "two questions", "whether they ask the same", GLUE, TEXTS, "same_meaning"),
    "STS-B": Task(
        "Semantic Textual Similarity Benchmark",
        "two sentences",
        "how similar they are, a number from 0 to 5",
        GLUE,
        TEXTS,
        "similarity",
    ),
    "MNLI": Task(
        "Multi-Genre Natural Language Inference",
        "a premise and a hypothesis",
        "entailment, neutral or contradiction",
        GLUE,
        TEXTS,
        "entailment",
    ),
    "QNLI": Task(
        "Question-answering inference",
        "a question and a sentence",
        "whether the sentence has the answer",
        GLUE,
        TEXTS,
        "entailment",
    ),
    "RTE": Task(
        "Recognizing Textual Entailment", "two texts", "whether the second follows from the first", GLUE, TEXTS, "entailment"
    ),
    "NER": Task(
        "Named entity recognition",
        "the words of a sentence",
        "a tag for each: where a name begins, goes on, and of what it is",
        "CoNLL-2003, Tjong Kim Sang & De Meulder 2003",
        WORDS,
        "names",
    ),
    "POS": Task(
        "Part-of-speech tagging",
        "the words of a sentence",
        "the part of speech of each",
        "Universal Dependencies, Nivre et al. 2020",
        WORDS,
        "parts_of_speech",
    ),
    "SQuAD": Task(
        "Stanford Question Answering Dataset",
        "a question and a text",
        "the part of the text that answers it or, since version 2.0, none",
        "Rajpurkar et al. 2016",
        ANSWERS,
        "answers",
    ),
}


class KnownTasks(View):
    """The kind of task, and a menu of well-known tasks, which leads to a kind with a built-in set."""

    name, question = "fine-tune/known-tasks", "What kind is a task that you know?"
    layout = (row(col("kind", width=6), col("task", "about", width=6)),)
    kind: str = of_kind(here=True)
    task: str = choice([(HINT, ""), *TASKS], "A task you know", menu=True, show_label=False)
    about = sentence(classes="caption")

    def compute(self, subject: Subject) -> Content:
        return {"about": TASKS[self.task].sentence(subject.model.capabilities.layers) if self.task else ""}

    def on_kind(self, subject: Subject, kind: str) -> Change:
        """Another kind of task: its own examples and settings."""
        return settle(task="", **begin(kind, subject))

    def on_task(self, subject: Subject, name: str) -> Change:
        """The kind, examples of that kind, and the best hidden state for the head."""
        if not name:
            return settle()
        task = TASKS[name]
        head = {"layer": place} if (place := task.read_after(subject.model.capabilities.layers)) else {}
        return settle(**{**begin(task.kind, subject), "source": READY, "ready": task.ready, **head})


def begin(kind: str, subject: Subject) -> dict[str, Any]:
    """The settings with which a kind of task begins."""
    first = KINDS[kind]
    examples = {"source": first.sources[0], "ready": first.opening, "table": None}
    return {"kind": kind, **examples, **defaults(kind, subject.model.capabilities)}
