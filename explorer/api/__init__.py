"""The public endpoints: the numbers behind the views, for programs.

Layers and heads count from 1; hidden state 0 is the embedding output; model="" is the default model. Values are full
float32 precision. An invalid argument is answered with one sentence.
"""

import gradio as gr

from explorer.api import (
    attention,
    corpus,
    experiments,
    inside_head,
    masked_lm,
    model_card,
    next_sentence,
    overview,
    own_head,
    projection,
    similarity,
    spans,
    suites,
    tagging,
    tokens,
    training,
    views,
)
from explorer.api.callers import bounded
from explorer.api.handlers import friendly
from explorer.base.scheduling import MODEL, TRAINING

ENDPOINTS = (
    *tokens.ENDPOINTS,
    *attention.ENDPOINTS,
    *inside_head.ENDPOINTS,
    *masked_lm.ENDPOINTS,
    *next_sentence.ENDPOINTS,
    *own_head.ENDPOINTS,
    *overview.ENDPOINTS,
    *similarity.ENDPOINTS,
    *projection.ENDPOINTS,
    *training.ENDPOINTS,
    *tagging.ENDPOINTS,
    *spans.ENDPOINTS,
    *corpus.ENDPOINTS,
    *experiments.ENDPOINTS,
    *suites.ENDPOINTS,
    *model_card.ENDPOINTS,
    *views.ENDPOINTS,
)
# These run beside other calls, so that no picture waits for a training.
TRAININGS = ("train_head", "train_tokens", "train_spans")
LONG = (
    *(*TRAININGS, "probe_layers", "projection", "search", "head_atlas", "neuron"),
    *("head_effects", "attribution", "pseudo_likelihood", "experiment", "suite"),
)


def register() -> None:
    """Add the endpoints to the Blocks being built."""
    for endpoint in ENDPOINTS:
        name = endpoint.__name__
        options = TRAINING if name in LONG else MODEL
        gr.api(friendly(bounded(endpoint, options["concurrency_id"])), api_name=name, **options)
