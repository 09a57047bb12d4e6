"""How BERT and its relatives name their parts.

A row says where, below the pre-training model of transformers, each part lives. The names on the left are BERT's
own. A relative is added by adding a row here.
"""

from dataclasses import dataclass

from explorer.base.errors import ModelError


@dataclass(frozen=True)
class Family:
    """Dotted paths of the parts of one architecture, all relative to what is named in the comment."""

    model_type: str  # `model_type` of config.json
    pretraining_class: str  # in transformers; carries every head the family was pre-trained with
    encoder: str  # from the pre-training model
    embeddings: str  # from the encoder
    word_embeddings: str  # from the embeddings
    position_embeddings: str  # from the embeddings
    segment_embeddings: str  # from the embeddings
    embeddings_norm: str  # from the embeddings
    layers: str  # from the encoder
    pooler: str  # from the encoder
    self_attention: str  # from a layer; holds query, key and value
    attention_output: str  # from a layer; W_O, then add & norm
    intermediate: str  # from a layer; the feed-forward part up to GELU
    output: str  # from a layer; the rest of the feed-forward part, then add & norm
    dense: str  # from attention_output, intermediate or output: its weights
    norm: str  # from attention_output or output: its LayerNorm
    activation: str  # from intermediate: its function
    masked_lm_head: str  # from the pre-training model
    next_sentence_head: str  # from the pre-training model


FAMILIES = {
    family.model_type: family
    for family in [
        Family(
            model_type="bert",
            pretraining_class="BertForPreTraining",
            encoder="bert",
            embeddings="embeddings",
            word_embeddings="word_embeddings",
            position_embeddings="position_embeddings",
            segment_embeddings="token_type_embeddings",
            embeddings_norm="LayerNorm",
            layers="encoder.layer",
            pooler="pooler",
            self_attention="attention.self",
            attention_output="attention.output",
            intermediate="intermediate",
            output="output",
            dense="dense",
            norm="LayerNorm",
            activation="intermediate_act_fn",
            masked_lm_head="cls.predictions",
            next_sentence_head="cls.seq_relationship",
        )
    ]
}


def family_of(model_type: object, name: str) -> Family:
    """The row for a `model_type`. Raises ModelError naming what can be read."""
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise ModelError(f"{name} is a model of type {str(model_type)[:40]!r}; BERT Explorer reads: {known}.")
    return FAMILIES[model_type]
