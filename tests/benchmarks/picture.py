"""The steps of the Overview's picture, the server's part: a cut, its undo, and each level of the zoom."""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import torch

import explorer
from explorer.bert.explorer import Explorer
from explorer.bert.trace import Trace
from explorer.overview.routes import Routes
from explorer.ui.subject import Subject
from explorer.ui.view import Change
from tests.benchmarks import Comparison, side_by_side
from tests.benchmarks.base_model import SENTENCE, base_model

ROUNDS = 41
WORDS, STEP, WHOLE = "at most 0.6", "at most 0.1", "at most 1.5"


def run() -> Iterator[Comparison]:
    """Each step beside the model's own pass in transformers over the same 17 tokens, and what it sends beside 10 kB."""
    for name, model in (("base", base_model()), ("bundled", explorer.load())):
        trace = model.trace(SENTENCE)
        assert trace.kept == 17
        yield from _steps(f"picture-{name}", model, trace)


def _steps(name: str, model: Explorer, trace: Trace) -> Iterator[Comparison]:
    view, subject, layer = Routes(), Subject.of(trace), model.capabilities.layers // 2 + 1
    blank = trace.mask_positions[0]
    view.compute(subject)  # what was seen before
    view.finding(subject)
    heads, keys = model.capabilities.heads, range(trace.kept)
    cuts = itertools.cycle([layer, blank, key, head] for head in range(1, heads + 1) for key in keys if key != blank)
    places = itertools.cycle(itertools.product(range(1, heads + 1), keys))
    for token in keys:
        view.compute(subject.select(token=token))
    unopened = itertools.cycle(itertools.product(range(1, model.capabilities.layers + 1), keys))  # more than ROUNDS

    def cut(then: Callable[[Subject], Any]) -> Any:
        return then(subject.select(cut=((layer - 1, *next(cuts)[1:3], next(places)[0] - 1),)))

    def rest(changed: Subject) -> Any:
        return view.compute(changed)["picture"]

    def open_layer() -> Any:
        number, token = next(unopened)
        return _sent(view.on_picture(subject.select(token=token), {"zoom": [number]}))

    inputs = {"input_ids": torch.tensor([trace.encoding.ids]), "token_type_ids": torch.tensor([trace.encoding.segments])}

    @torch.inference_mode()
    def whole_pass() -> Any:
        return model.module(**inputs)

    after = subject.select(cut=((layer - 1, blank, 1, None),))
    steps: dict[str, tuple[Callable[[], Any], str]] = {
        "the answer after a cut": (lambda: _sent(view.on_picture(subject, {"cut": next(cuts)})), WORDS),
        "all words and the routes after a cut": (lambda: cut(rest), WHOLE),
        "the answer after an undo": (lambda: _sent(view.on_picture(after, {"cut": [layer, blank, 1, 0]})), STEP),
        "a layer of a token, opened first": (open_layer, STEP),
        "a layer": (lambda: _sent(view.on_picture(subject, {"zoom": [layer]})), STEP),
        "a head": (lambda: _sent(view.on_picture(subject, {"zoom": [layer, next(places)[0]]})), STEP),
        "a weight": (lambda: _sent(view.on_picture(subject, {"zoom": [layer, *next(places)]})), STEP),
    }
    for what, (step, most) in steps.items():
        ours, theirs = side_by_side(step, whole_pass, ROUNDS)
        yield Comparison(name, what, "one pass with its predictions", ours, theirs, "s", most)
        size = len(json.dumps(step())) / 1e3
        yield Comparison(f"{name}-bytes", what, "10 kB", size, 10, "kB", "no limit")


def _sent(change: Change) -> Any:
    return change.content["step"]
