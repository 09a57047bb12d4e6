"""Endpoints for training a head for each kind of task, using it, and probing every layer.

A long call reports its progress through `gr.Progress`, which gradio_client reads as `job.status().progress_data`; it is made
inside the function, since Gradio would take a parameter for an argument of the endpoint.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.analysis.evaluation import marks_entities
from explorer.api.callers import caller, run_while_wanted, sent_file
from explorer.bert.explorer import Explorer, load
from explorer.core import jobs
from explorer.core.errors import BusyError, InputError
from explorer.core.limits import EPOCHS
from explorer.core.steps import map_steps
from explorer.finetune.compute import from_table, store
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.finetune import rate_at_width
from explorer.finetune.compute.layers import EVERY_TOKEN
from explorer.finetune.compute.predictor import Run, TrainingPlan, as_kind
from explorer.finetune.compute.questions import check_questions
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.task import CHECKS, Task, make_plan, run_training
from explorer.finetune.compute.texts import Classifier
from explorer.finetune.compute.words import HeldOutTags, Tagger
from explorer.text import limits
from explorer.training.examples import check_examples, check_texts_or_pairs
from explorer.training.probe import probe
from explorer.training.tagging import check_tagged_examples, check_to_tag

REPORTED = ("epoch", "train_loss", "held_out_loss", "held_out_accuracy", "held_out_exact_match", "held_out_f1")  # of an epoch


def train_and_keep(model: Explorer, examples: Any, plan: TrainingPlan) -> tuple[Run, dict[str, Any]]:
    """The run of a caller's training, with progress on the way, and its id and epochs. Raises BusyError if no epoch ends."""
    identifier = store.new_id()
    with jobs.job(identifier) as stop:
        steps = map_steps(run_training(Task(model, examples, plan), stop.is_set), lambda step: (step.share, step.doing))
        result = run_while_wanted(steps, tell())
        if result is None:
            raise BusyError("The training had to end in its first epoch. Send fewer examples, or try again later.")
        run = new_run(result, "API", identifier, caller())
    history = [{name: row[name] for name in REPORTED if name in row} for row in run.history]
    return run, {"head": run.id, "history": history}


def train_head(
    examples: list[list[str]],
    layer: int = -1,
    pooling: str = "cls",
    epochs: int = 10,
    learning_rate: float = 0.01,
    batch_size: int = 32,
    seed: int = 0,
    model: str = "",
    layers_trained: int = 0,
) -> dict[str, Any]:
    """Train a linear head on [text, label] or [text, second text, label] examples, a fifth of each label held out.

    epochs=0: as many steps as the number of examples calls for, at least 10 epochs and 300 steps (4 and 100 with layers).
    From fewer than 100 examples a head alone is then solved (logistic regression, L-BFGS) on all of them, which is one
    epoch in the history, and held out is each in turn (leave-one-out).

    With layers_trained, the layers just below the head are trained too, with AdamW, at the learning rate but at most
    5e-5 · (768 / hidden size)² (2e-4 for the bundled model), and the head at 0.01 at least; their weights are a running
    mean over about three epochs. The last epoch is kept: nothing is chosen on the held-out examples. Progress
    is streamed.

    Returns:
        `head` (an id), `labels`, `history`, `held_out_accuracy`, and to compare it with `baselines`: the held-out accuracy of
        always answering the most frequent label, and of a bag of words.
    """
    given, explorer = check_examples(examples), load(model)
    sent: dict[str, Any] = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "seed": seed}
    run, said = train_and_keep(explorer, given, make_plan(explorer, layer, pooling, layers_trained, **sent))
    accuracy = run.history[-1]["held_out_accuracy"]
    return {**said, "labels": given.classes, "held_out_accuracy": accuracy, "baselines": run.baselines}


def read_examples(file: str, text: str = "", label: str = "", text_b: str = "", kind: str = "") -> dict[str, Any]:
    """The examples in a CSV, TSV or JSON file, which is sent in Base64. Columns that are not named are guessed.

    text_b="" guesses whether the file has second texts, "(none)" ignores them; kind is "classes", "number", or "" for
    what the labels look like. The notes say what was guessed and left out. The examples of classes can be sent to /train_head.

    Returns:
        `rows` (used), `text`, `text_b`, `label` (columns), `kind`, `labels`, `notes`, `examples`.
    """
    kind = limits.check_choice(kind, "the kind", ["", "classes", "number"])
    with sent_file(file) as path:
        found = from_table.read_examples(
            path, text=text, label=label, text_b={"": None, "(none)": ""}.get(text_b, text_b), kind=kind
        )
    given = found.examples
    columns = (given.texts, given.texts_b, given.labels) if given.texts_b else (given.texts, given.labels)
    about = {name: getattr(found, name) for name in ("rows", "text", "text_b", "label", "kind", "labels", "notes")}
    return {**about, "examples": [list(row) for row in zip(*columns, strict=True)]}


def classify(texts: list[str], head: str) -> dict[str, Any]:
    """The labels that a trained head gives to texts, and the probability of each of its labels in their order.

    For a head that was trained on pairs, send [text, second text] instead of a text.

    Returns:
        `labels`, `probabilities`.
    """
    pairs = check_texts_or_pairs(texts)
    found = as_kind(store.fetch(head).predictor, Classifier)
    probabilities = found.classify(load(found.model), pairs)
    return {"labels": [found.labels[best] for best in probabilities.argmax(-1)], "probabilities": probabilities.tolist()}


def probe_layers(examples: list[list[str]], pooling: str = "mean", seeds: int = 3, model: str = "") -> dict[str, Any]:
    """How well a linear head does on every hidden state: held-out accuracy, its deviation over seeds (splits), its 95%
    interval over the different texts held out in some split, and the accuracy with the labels shuffled. Progress is streamed.

    Returns:
        `layers`: `layer`, `accuracy`, `deviation`, `control_accuracy`, `low`, `high`, `sentences` (different ones held out).
    """
    given = check_examples(examples)
    seeds = limits.check_integer(seeds, "the number of seeds", 1, 20)
    layers = run_while_wanted(probe(load(model), given, pooling, seeds), tell())
    return {"layers": [layer._asdict() for layer in layers]}


def tell() -> Callable[[tuple[float, str]], None]:
    progress = gr.Progress()
    return lambda step: progress(step[0], desc=step[1])


def train_tokens(
    examples: list[list[list[str]]],
    layer: int = -1,
    pieces: str = "first",
    epochs: int = 10,
    learning_rate: float = 0.01,
    batch_size: int = 32,
    seed: int = 0,
    model: str = "",
    layers_trained: int = 0,
) -> dict[str, Any]:
    """Train a linear head on [words, tags] examples, two lists of one length each; a fifth of the sentences is held out.

    It reads one vector per word, of its first piece ("first") or the mean of its pieces ("mean"). Batches consist of words; with
    layers_trained, as in /train_head, of sentences. Words beyond the model's length are left out. entity_f1 is that of whole
    names, of all types together, by seqeval's definition; null without B- and I- tags. Progress is streamed.

    Returns:
        `head` (an id), `tags`, `history`, `held_out_accuracy` (of words), `entity_f1`.
    """
    given, explorer = check_tagged_examples(examples), load(model)
    sent: dict[str, Any] = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "seed": seed}
    plan = make_plan(explorer, layer, pieces, layers_trained, predictor=Tagger, **sent)
    run, said = train_and_keep(explorer, given, plan)
    scores = as_kind(run.held_out, HeldOutTags).entities(given.classes)
    f1 = (scores[0].f1 if scores else 0.0) if marks_entities(given.classes) else None
    return {**said, "tags": given.classes, "held_out_accuracy": run.history[-1]["held_out_accuracy"], "entity_f1": f1}


def tag(texts: list[Any], head: str) -> dict[str, Any]:
    """The tag that a trained head gives to every word of texts, and its probability.

    A text is cut into words as BERT's tokenizer does it first, at blanks and around punctuation; a list of words is taken as it
    is. A text that is longer than what the model takes is refused.

    Returns:
        `words`, `tags`, `probabilities` (of the tag given): a list for each text.
    """
    sentences = check_to_tag(texts)
    tagger = as_kind(store.fetch(head).predictor, Tagger)
    found = tagger.tag(load(tagger.model), sentences)
    for number, (words, shares) in enumerate(zip(sentences, found, strict=True), start=1):
        if len(shares) < len(words):
            most = f"the model reads {len(shares):,} of its {len(words):,} words"
            raise InputError(f"Text {number} is too long, for {most}. Send it in parts.")
    return {
        "words": sentences,
        "tags": [[tagger.labels[best] for best in shares.argmax(-1)] for shares in found],
        "probabilities": [shares.max(-1).tolist() for shares in found],
    }


def train_spans(
    examples: list[list[str]],
    epochs: int = 3,
    learning_rate: float = 5e-5,
    batch_size: int = 16,
    seed: int = 0,
    model: str = "",
    layers_trained: int = -1,
) -> dict[str, Any]:
    """Train a head for the beginning and the end of answers on [question, text, answer] examples ("" means no answer).

    Texts are held out with all their questions, about a fifth of the questions. All layers are trained with the head, unless
    layers_trained gives a number from the top. The learning rate is meant for BERT-base: the layers use learning_rate · (768 /
    hidden size)², so that the default suits small models too, but at most as with 5e-5, and the head at least 0.01. The last
    epoch is kept. Progress is streamed.

    Returns:
        `head` (an id), `history`, `exact_match`, `f1` (as SQuAD's evaluation has them, 0 to 1, on the texts that are held out).
    """
    given, explorer = check_questions(examples), load(model)
    layers = explorer.capabilities.layers if layers_trained == -1 else layers_trained
    rate = min(1.0, rate_at_width(CHECKS["learning_rate"](learning_rate), explorer.capabilities.hidden_size))
    epochs = limits.check_integer(epochs, "the number of epochs", 1, EPOCHS.most)
    sent: dict[str, Any] = {"epochs": epochs, "learning_rate": rate, "batch_size": batch_size, "seed": seed}
    run, said = train_and_keep(explorer, given, make_plan(explorer, -1, EVERY_TOKEN, layers, predictor=Answerer, **sent))
    last = run.history[-1]
    return {**said, "exact_match": last["held_out_exact_match"], "f1": last["held_out_f1"]}


def answer(question: str, text: str, head: str) -> dict[str, Any]:
    """The answer that a trained head finds in a text, "" for none, its characters [start, end) in the text, and the shares
    p(start) · p(end) of the best span (score) and of there being no answer (no_answer), 0 to 1; a long text is cut (read).

    Returns:
        `answer`, `start`, `end`, `score`, `no_answer`, `read`.
    """
    question, text = limits.check_text(question, "the question"), limits.check_text(text, "the text")
    found = as_kind(store.fetch(head).predictor, Answerer)
    said = found.answer(load(found.model), question, text)
    named = ("start", "end", "score", "no_answer", "read")
    return {"answer": said.text, **{name: getattr(said, name) for name in named}}


ENDPOINTS = (train_head, read_examples, classify, probe_layers, train_tokens, tag, train_spans, answer)
