"""Attention as the views show it: from a subject to arrays, the small ones made once and kept with the trace."""

import numpy as np

from explorer.analysis.attention import rows_error
from explorer.analysis.head_metrics import TokenFacts, most_interesting
from explorer.analysis.overview import Overview, overview
from explorer.views.subject import Subject
from explorer.views.view import max_error, verdict

ONE_HEAD, LAYER_MEAN, HEAD_MEAN, ALL_MEAN = (
    "this head",
    "mean of the layer's heads",
    "this head number, mean of all layers",
    "mean of all heads",
)
WEIGHT, VALUE = "weight", "weight × value"


def overview_of(subject: Subject) -> Overview:
    """Pictures, metrics and patterns of all heads on this input."""
    trace = subject.trace

    def make() -> Overview:
        layers = (trace.attention(layer) for layer in range(subject.model.capabilities.layers))
        return overview(layers, TokenFacts.of(trace.encoding))

    return trace.once("overview", make)


def most_telling_first(subject: Subject) -> Subject:
    """The subject with a layer and head: those that were picked, or else the most interesting head of this input."""
    if subject.chosen.picked:
        return subject
    layer, head = most_interesting(overview_of(subject).metrics)
    return subject.select(layer=layer + 1, head=head + 1, picked=False)


def weights_of(subject: Subject, average: str = ONE_HEAD, measure: str = WEIGHT) -> np.ndarray:
    """[query, key] of the chosen head, or the mean over heads, layers or both."""
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    layers = range(subject.model.capabilities.layers) if average in (HEAD_MEAN, ALL_MEAN) else [layer]
    heads = slice(None) if average in (LAYER_MEAN, ALL_MEAN) else slice(head, head + 1)
    total = np.zeros((subject.trace.kept, subject.trace.kept), dtype=np.float32)
    for index in layers:
        chosen = subject.trace.attention(index)[heads]
        if measure == VALUE:
            from explorer.techniques.inside import value_norms  # loads torch

            chosen = chosen * value_norms(subject.trace, index)[heads, None, :]
        total += chosen.mean(axis=0)
    return total / len(layers)


def attention_check(subject: Subject, measure: str = WEIGHT) -> dict[str, str]:
    """Whether the weights of the chosen layer are the ones that the model used."""
    trace, layer = subject.trace, subject.selection.attention_layer

    def errors() -> tuple[float, float]:
        return rows_error(trace.attention(layer)), trace.attention_error(layer)

    rows, output = trace.once(("check", layer), errors)
    proofs = [
        f"rows sum to 1 ({max_error(rows)})",
        f"these weights give the model's own output of layer {layer + 1} ({max_error(output)})",
    ]
    fine = rows < 1e-5 and output < 1e-4
    if measure == VALUE:
        from explorer.techniques.inside import value_error

        error = trace.once(("values", layer), lambda: value_error(trace, layer))
        proofs.append(f"the weighted values of all heads sum to what the layer's attention adds ({max_error(error)})")
        fine = fine and error < 1e-4
    return verdict(fine, "; ".join(proofs))
