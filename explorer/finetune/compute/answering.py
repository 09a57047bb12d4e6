"""Extractive question answering: a head that scores each token as the first and as the last one of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import inference_mode, torch
from explorer.core.steps import finished
from explorer.finetune.compute.answers import best_span
from explorer.finetune.compute.finetune import evaluate
from explorer.finetune.compute.predictor import SAMPLES, Predictor
from explorer.finetune.compute.prefix import EVERY_TOKEN, Ragged, hidden_in_steps
from explorer.finetune.compute.top_layers import Top
from explorer.finetune.compute.windows import Window, windows_of


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question: characters [start, end) of its text, or '' with 0 and 0 when 'no answer' scores higher.

    `score` is the share p(start) · p(end) of the best span, `no_answer` that of [CLS], 0 to 1 each (softmax over all tokens of
    the window, Devlin et al. 2019, sections 4.2 and 4.3).
    """

    text: str
    start: int
    end: int
    score: float
    no_answer: float
    window: Window = field(repr=False)  # the window that is most certain of an answer
    span: tuple[int, int]  # the first and the last token of the best span, even if 'no answer' scores higher
    shares: np.ndarray = field(repr=False)  # [tokens, 2]: the probability that the answer begins, and ends, at each token


class Answerer(Predictor):
    """Finds the span of a text that answers a question, if any does."""

    kind = "spans"
    measures = ("loss", "exact_match", "f1")
    poolings = (EVERY_TOKEN,)
    own_labels = ("start", "end")

    def answer(self, model: Explorer, question: str, text: str) -> Answer:
        """The best span of the text, or none. Raises InputError when the question or the text cannot be read."""
        windows = windows_of(model, [(question, text)])
        return choose(text, windows, self.scores(model, windows))

    def scores(self, model: Explorer, windows: Sequence[Window]) -> list[np.ndarray]:
        """For each window [tokens, 2]: the scores (logits) of each token as the first and as the last one of the answer."""
        states = finished(hidden_in_steps(model, [one.pair for one in windows], self.layer - self.layers_trained))
        return token_scores(self, model, states, torch.arange(len(windows)))

    def sample(self, model: Explorer) -> np.ndarray:
        """[tokens, 2] scores of a sample question and text."""
        question, text = SAMPLES[1]
        return self.scores(model, windows_of(model, [(question, text)]))[0]

    @inference_mode
    def looks(self, model: Explorer, answer: Answer) -> np.ndarray:
        """[layers, heads]: the share of each head's attention that goes from the question to the best span.

        0 to 1, the mean over the question's tokens. The layers are those of the predictor, with its trained ones on top.
        """
        encoding, (start, end) = answer.window.encoding, answer.span
        asked = [token for token, sequence in enumerate(encoding.sequences) if sequence == 0]
        frozen = model.layers[: self.layer - self.layers_trained]
        hidden = model.embed(torch.tensor([encoding.ids]), torch.tensor(encoding.segments))
        found = []
        for layer in [*frozen, *(self.top.own_layers if self.top else ())]:
            weights = layer.heads(hidden).weights()[0]  # [heads, query, key]
            found.append(weights[:, asked, start : end + 1].sum(-1).mean(-1).numpy())
            hidden = layer(hidden)
        return np.stack(found)


def token_scores(predictor: Predictor, model: Explorer, states: Ragged, rows: torch.Tensor) -> list[np.ndarray]:
    """[tokens, outputs] scores for all tokens of each of the texts `rows`, from the hidden states below the trained layers."""
    top = predictor.top or Top(model, predictor.layer, 0, EVERY_TOKEN).eval()
    scores = predictor.head.outputs(evaluate(top, states, rows).numpy())
    return np.split(scores, np.cumsum(states.lengths[rows].tolist())[:-1])


def choose(text: str, windows: Sequence[Window], scores: Sequence[np.ndarray]) -> Answer:
    """The answer to one question from the scores [tokens, 2] of its windows: that of the window most certain of an answer."""
    return max((_in_window(text, *one) for one in zip(windows, scores, strict=True)), key=lambda found: found[0])[1]


def _in_window(text: str, window: Window, scores: np.ndarray) -> tuple[float, Answer]:
    """The margin of the best span over 'no answer' (a difference of logits), and the answer in this window."""
    places = window.text_tokens
    first, last = best_span(scores[places, 0], scores[places, 1])
    start, end = places[first], places[last]
    logs = scores - np.log(np.exp(scores - scores.max(0)).sum(0)) - scores.max(0)  # [tokens, 2]
    surer = float(scores[start, 0] + scores[end, 1] - scores[0].sum())
    begin, stop = window.characters(start, end) if surer > 0 else (0, 0)
    score, no_answer = float(np.exp(logs[start, 0] + logs[end, 1])), float(np.exp(logs[0].sum()))
    return surer, Answer(text[begin:stop], begin, stop, score, no_answer, window, (start, end), np.exp(logs))
