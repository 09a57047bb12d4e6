"""Endpoints for training question answering, and for using it."""

from typing import Any

from explorer.api.arguments import explorer_for
from explorer.core.limits import EPOCHS
from explorer.finetune.compute import store
from explorer.finetune.compute.answering import Answerer
from explorer.finetune.compute.finetune import rate_at_width
from explorer.finetune.compute.predictor import of_kind
from explorer.finetune.compute.prefix import EVERY_TOKEN
from explorer.finetune.compute.questions import check_questions
from explorer.finetune.compute.span_task import Answering
from explorer.finetune.compute.training import CHECKS, make_plan
from explorer.finetune.endpoints.texts import history_of, trained
from explorer.text import limits


def train_spans(
    examples: list[list[str]],
    epochs: int = 3,
    learning_rate: float = 5e-5,
    batch_size: int = 16,
    seed: int = 0,
    model: str = "",
    layers_trained: int = -1,
) -> dict[str, Any]:
    """Train a head for the beginning and the end of answers on [question, text, answer] examples ("" is no answer).

    Texts are held out with all their questions, about a fifth of the questions. All layers are trained with the head, unless
    layers_trained gives a number from the top. The learning rate is meant for BERT-base: the layers use learning_rate · (768 /
    hidden size)², so that the default suits small models too, but at most as with 5e-5, and the head at least 0.01. The last
    epoch is kept. Progress is streamed.

    Returns:
        `head` (an id), `history`, `exact_match`, `f1` (as SQuAD's evaluation has them, 0 to 1, on the texts that are held out).
    """
    given, explorer = check_questions(examples), explorer_for(model)
    layers = explorer.capabilities.layers if layers_trained == -1 else layers_trained
    rate = min(1.0, rate_at_width(CHECKS["learning_rate"](learning_rate), explorer.capabilities.hidden_size))
    epochs = limits.check_integer(epochs, "the number of epochs", 1, EPOCHS.most)
    sent: dict[str, object] = {"epochs": epochs, "learning_rate": rate, "batch_size": batch_size, "seed": seed}
    run = trained(Answering(explorer, given, make_plan(explorer, -1, EVERY_TOKEN, layers, False, Answerer, **sent)))
    history = history_of(run, "held_out_exact_match", "held_out_f1")
    last = history[-1]
    return {"head": run.id, "history": history, "exact_match": last["held_out_exact_match"], "f1": last["held_out_f1"]}


def answer(question: str, text: str, head: str) -> dict[str, Any]:
    """The answer that a trained head finds in a text, "" for none, its characters [start, end) in the text, and the shares
    p(start) · p(end) of the best span (score) and of there being no answer (no_answer), 0 to 1.

    Returns:
        `answer`, `start`, `end`, `score`, `no_answer`.
    """
    question, text = limits.check_text(question, "the question"), limits.check_text(text, "the text")
    found = of_kind(store.fetch_kind(head, "spans").predictor, Answerer)
    said = found.answer(explorer_for(found.model), question, text)
    return {"answer": said.text, "start": said.start, "end": said.end, "score": said.score, "no_answer": said.no_answer}


ENDPOINTS = (train_spans, answer)
