"""What a view weighs when it is taken away, and how long it takes, beside the three views of BertViz.

BertViz is measured where it is installed (`pip install bertviz==1.4.1`), up to 128 tokens; what it makes of 512 was measured
once, since it takes 48 s and many gigabytes. Its pages hold all heads of all layers and fetch their scripts from elsewhere; ours
hold what one view of the app shows, with all that draws it.
"""

import importlib.util
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import explorer
from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer
from explorer.bert.trace import Trace
from explorer.export import notebook
from tests.benchmarks import Comparison
from tests.benchmarks.attention import BERTVIZ_BYTES
from tests.benchmarks.base_model import base_model, text_of

LENGTHS = (17, 128, 512)
MOST_MEASURED = 128  # tokens of BertViz's pages that are made here
MOST_BYTES = 1.5e6
SEEN_AS: dict[str, tuple[str, dict[str, Any]]] = {
    "head_view": ("attention/head", {"look": "Lines"}),
    "model_view": ("attention/heads", {}),
    "neuron_view": ("inside-head/dots", {}),
}
"""The view of ours that answers the question of each of BertViz's, and its settings."""


def run() -> Iterator[Comparison]:
    """Bytes and seconds of each pair at 17, 128 and 512 tokens."""
    model = base_model()
    theirs_there = importlib.util.find_spec("bertviz") is not None
    for tokens in LENGTHS:
        for name, (view, settings) in SEEN_AS.items():
            trace = model.trace(text_of(tokens))
            size, seconds = measured(partial(of_ours, trace, view, settings))
            label = f"takeaway-{tokens}-{name}"
            yield Comparison(label, view, "the limit", size, MOST_BYTES, "bytes", "ratio at most 1")
            if theirs_there and tokens <= MOST_MEASURED:
                their_size, their_seconds = measured(partial(of_bertviz, name, model, tokens))
                yield Comparison(f"{label}-bytes", view, f"BertViz {name}", size, their_size, "bytes", "ratio below 1")
                yield Comparison(f"{label}-seconds", view, f"BertViz {name}", seconds, their_seconds, "s", "ratio below 1")
            elif tokens == LENGTHS[-1] and name == "head_view":
                yield Comparison(f"{label}-bytes", view, "BertViz head_view", size, BERTVIZ_BYTES, "bytes", "at most 1/1000")
                yield Comparison(f"{label}-seconds", view, "BertViz head_view", seconds, 48, "s", "ratio below 1")


def measured(make: Callable[[], str]) -> tuple[int, float]:
    """The bytes of a page and the seconds it takes, when everything that it needs is loaded."""
    make()
    start = time.perf_counter()
    page = make()
    return len(page.encode()), time.perf_counter() - start


def of_ours(trace: Trace, view: str, settings: dict[str, Any]) -> str:
    """The page of one view, of a trace that is there."""
    return notebook.show(trace, view, layer=6, head=11, **settings).html


def of_bertviz(name: str, model: Explorer, tokens: int) -> str:
    """The page of one of its three views: the pass through the model is not counted for the first two, nor is it for ours."""
    trace = model.trace(text_of(tokens))
    if name == "neuron_view":
        return _neurons(model, text_of(tokens))
    import bertviz
    import torch

    attention = [torch.from_numpy(trace.attention(layer))[None] for layer in range(model.capabilities.layers)]
    made = getattr(bertviz, name)(attention, list(trace.tokens), html_action="return")
    return str(made.data)


def _neurons(model: Explorer, text: str) -> str:
    """Its pass through the model is a part of it."""
    from bertviz import neuron_view

    own, tokenizer = _own_model(model.name)
    return str(neuron_view.show(own, "bert", tokenizer, text, html_action="return").data)


@cache
def _own_model(name: str) -> tuple[Any, Any]:
    """A model of the same size as BertViz's own classes read it, and its tokenizer."""
    from bertviz.transformers_neuron_view import BertConfig, BertModel, BertTokenizer

    folder, tokenizer = checkpoints.find(name).folder, explorer.load(name).tokenizer
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(tokenizer.convert_ids_to_tokens(range(len(tokenizer)))) + "\n", "utf-8")
    return BertModel(BertConfig.from_json_file(str(folder / "config.json"))).eval(), BertTokenizer(str(vocabulary))
