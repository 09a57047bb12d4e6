"""The public endpoints: the numbers behind the views, for programs.

Layers and heads count from 1. Hidden state 0 is the embedding output; model="" is the default model. Values are full
float32 precision. An invalid argument is answered with one sentence.
"""

import gradio as gr

from explorer.api.callers import bound, friendly
from explorer.attention import endpoints as attention
from explorer.core.scheduling import MODEL, TRAINING
from explorer.corpus import endpoints as corpus
from explorer.experiments import endpoints as experiments
from explorer.export import endpoints as export
from explorer.fill_mask import endpoints as fill_mask
from explorer.finetune import endpoints as finetune
from explorer.hidden_states import endpoints as hidden_states
from explorer.inside_head import endpoints as inside_head
from explorer.model_card import endpoints as model_card
from explorer.next_sentence import endpoints as next_sentence
from explorer.overview import endpoints as overview
from explorer.task_head import endpoints as task_head
from explorer.tokens import endpoints as tokens

ENDPOINTS = tuple(
    endpoint
    for capability in (
        *(tokens, attention, inside_head, fill_mask, next_sentence, task_head, overview, hidden_states, finetune),
        *(corpus, experiments, model_card, export),
    )
    for endpoint in capability.ENDPOINTS
)
# These run beside other calls, so that no picture waits for a training.
LONG = (
    *("train_head", "train_tokens", "train_spans", "probe_layers", "search", "head_atlas", "neuron"),
    *("head_effects", "attribution", "pseudo_likelihood", "experiment", "suite"),
)


def register() -> None:
    for endpoint in ENDPOINTS:
        options = TRAINING if endpoint.__name__ in LONG else MODEL
        gr.api(friendly(bound(endpoint, options["concurrency_id"])), api_name=endpoint.__name__, **options)
