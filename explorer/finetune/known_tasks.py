"""Tasks with well-known names: the kind of each, and the matching examples here."""

from typing import Any, NamedTuple

from explorer.finetune.compute.from_table import BUILT_IN
from explorer.finetune.example_settings import READY
from explorer.training.tagging import TAGGED
from explorer.ui.layout import col, row
from explorer.ui.settings import choice
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, View, sentence, settle

TEXTS, WORDS, ANSWERS = "A text or a pair", "Every word", "An answer in a text"  # the choices of the tab
HINT = "A task you know by name …"
MIDDLE = 2 / 3  # where grammar and pairs are best read on the bundled model, and syntax in Jawahar et al. 2019
GLUE = "GLUE, Wang et al. 2018"


class Task(NamedTuple):
    """A task with a well-known name."""

    called: str
    given: str  # the input
    wanted: str  # the output
    source: str
    kind: str  # the choice of the tab that has this kind of task
    settings: dict[str, Any]  # select a set of examples of this kind
    chosen: str  # the name of that set
    depth: float = 0.0  # the best depth for the head, as a share of the layers; 0: unchanged

    def read_after(self, layers: int) -> int:
        """The hidden state that the head reads in a model of so many layers."""
        return round(self.depth * layers)

    def sentence(self, layers: int) -> str:
        """The task, and the examples chosen for it, in a sentence."""
        head = f", and a head on hidden state {self.read_after(layers)}" if self.depth else ""
        return f"{self.called}: {self.given} → {self.wanted} ({self.source}). Chosen: {self.chosen}, in our own words{head}."


def _text(called: str, given: str, wanted: str, ready: str) -> Task:
    """A task of GLUE, with a built-in set of its kind."""
    settings = {"source": READY, "ready": ready}
    depth = 1 if ready == "sentiment" else MIDDLE
    return Task(called, given, wanted, GLUE, TEXTS, settings, BUILT_IN[ready].split(":")[0], depth)


def _words(called: str, wanted: str, source: str, name: str) -> Task:
    """A task of tagging words, with a built-in set of its kind."""
    settings = {"words_from": READY, "words_set": name}
    return Task(called, "the words of a sentence", wanted, source, WORDS, settings, TAGGED[name].split(":")[0].lower())


TASKS = {
    "SST-2": _text("Stanford Sentiment Treebank", "a sentence on a film", "positive or negative", "sentiment"),
    "CoLA": _text("Corpus of Linguistic Acceptability", "a sentence", "whether it is acceptable English", "grammar"),
    "MRPC": _text("Microsoft Research Paraphrase Corpus", "two sentences", "whether they mean the same", "same_meaning"),
    "QQP": _text("Quora Question Pairs", "two questions", "whether they ask the same", "same_meaning"),
    "STS-B": _text(
        "Semantic Textual Similarity Benchmark", "two sentences", "how alike they are, a number from 0 to 5", "similarity"
    ),
    "MNLI": _text(
        "Multi-Genre Natural Language Inference",
        "a premise and a hypothesis",
        "entailment, neutral or contradiction",
        "entailment",
    ),
    "QNLI": _text(
        "Question-answering inference", "a question and a sentence", "whether the sentence holds the answer", "entailment"
    ),
    "RTE": _text("Recognizing Textual Entailment", "two texts", "whether the second follows from the first", "entailment"),
    "NER": _words(
        "Named entity recognition",
        "a tag for each: where a name begins, goes on, and of what it is",
        "CoNLL-2003, Tjong Kim Sang & De Meulder 2003",
        "names",
    ),
    "POS": _words(
        "Part-of-speech tagging", "the part of speech of each", "Universal Dependencies, Nivre et al. 2020", "parts_of_speech"
    ),
    "SQuAD": Task(
        "Stanford Question Answering Dataset",
        "a question and a text",
        "the part of the text that answers it or, since version 2.0, none",
        "Rajpurkar et al. 2016",
        ANSWERS,
        {"asked_from": READY},
        "questions on short texts",
    ),
}


class KnownTasks(View):
    """A menu of well-known tasks, which leads to the kind of task with a set of that kind chosen."""

    name, question = "fine-tune/known-tasks", "What kind is a task that you know?"
    layout = (row(col("task", width=3), col("about", width=10)),)
    task: str = choice([(HINT, ""), *TASKS], "A task you know", menu=True, show_label=False)
    about = sentence(classes="caption")

    def compute(self, subject: Subject) -> Content:
        return {"about": TASKS[self.task].sentence(subject.model.capabilities.layers) if self.task else ""}

    def on_task(self, subject: Subject, name: str) -> Change:
        """The choice of the tab, examples of that kind, and the best hidden state for the head."""
        if not name:
            return settle()
        task = TASKS[name]
        head = {"layer": task.read_after(subject.model.capabilities.layers)} if task.depth else {}
        return Change(settings={**task.settings, **head}, choice=task.kind)
