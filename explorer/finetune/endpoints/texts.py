"""Endpoints for training a head, using it, and probing every layer.

A long call reports its progress through `gr.Progress`, which gradio_client reads as `job.status().progress_data`; it is made
inside the function, since Gradio would take a parameter for an argument of the endpoint.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.api.arguments import explorer_for
from explorer.api.callers import caller, while_wanted
from explorer.core import jobs
from explorer.core.errors import BusyError
from explorer.core.steps import map_steps
from explorer.finetune.compute import store
from explorer.finetune.compute.predictor import Classifier, of_kind
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.text_tasks import Classification
from explorer.finetune.compute.training import Task, make_plan, new_run, run_training
from explorer.text import limits
from explorer.training.examples import check_examples, check_texts_or_pairs
from explorer.training.probe import probe


def trained(task: Task) -> Run:
    """The run of a caller's training, with progress on the way. Raises BusyError when it ends before its first epoch."""
    identifier = store.new_id()
    with jobs.job(identifier) as stop:
        steps = map_steps(run_training(task, stop.is_set), lambda step: (step.share, step.doing))
        result = while_wanted(steps, tell())
        if result is None:
            raise BusyError("The training had to end before its first epoch did; send fewer examples, or try again later.")
        return new_run(result, "API", identifier, caller())


def history_of(run: Run, *measures: str) -> list[dict[str, float]]:
    """For each epoch its number, both losses, and these measures of the held-out examples."""
    reported = ("epoch", "train_loss", "held_out_loss", *measures)
    return [{name: row[name] for name in reported} for row in run.history]


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
        `head` (an id), `labels`, `history`, `held_out_accuracy`.
    """
    given, explorer = check_examples(examples), explorer_for(model)
    sent: dict[str, object] = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "seed": seed}
    plan = make_plan(explorer, layer, pooling, layers_trained, False, Classifier, **sent)
    run = trained(Classification(explorer, given, plan))
    history = history_of(run, "held_out_accuracy")
    return {"head": run.id, "labels": given.classes, "history": history, "held_out_accuracy": history[-1]["held_out_accuracy"]}


def classify(texts: list[str], head: str) -> dict[str, Any]:
    """The labels that a trained head gives to texts, and the probability of each of its labels in their order.

    For a head that was trained on pairs, send [text, second text] instead of a text.

    Returns:
        `labels`, `probabilities`.
    """
    pairs = check_texts_or_pairs(texts)
    found = of_kind(store.fetch_kind(head, "classes").predictor, Classifier)
    probabilities = found.classify(explorer_for(found.model), pairs)
    return {"labels": [found.labels[best] for best in probabilities.argmax(-1)], "probabilities": probabilities.tolist()}


def probe_layers(examples: list[list[str]], pooling: str = "mean", seeds: int = 3, model: str = "") -> dict[str, Any]:
    """How well a linear head does on every hidden state: held-out accuracy, its deviation over seeds (splits), its 95 %
    interval over the different texts held out in some split, and the accuracy with the labels shuffled. Progress is streamed.

    Returns:
        `layers`: `layer`, `accuracy`, `deviation`, `control_accuracy`, `low`, `high`, `sentences` (different ones held out).
    """
    given = check_examples(examples)
    seeds = limits.check_integer(seeds, "the number of seeds", 1, 20)
    layers = while_wanted(probe(explorer_for(model), given, pooling, seeds), tell())
    return {"layers": [vars(layer) for layer in layers]}


def tell() -> Callable[[tuple[float, str]], None]:
    """A function that reports the share and the sentence of a step to Gradio."""
    progress = gr.Progress()
    return lambda step: progress(step[0], desc=step[1])


ENDPOINTS = (train_head, classify, probe_layers)
