"""How BERT and its relatives name their parts: where each lives, below the pre-training model of transformers.

The defaults are BERT's own. A relative is added by adding a row to FAMILIES.
"""

from dataclasses import dataclass

from explorer.base.errors import ModelError


@dataclass(frozen=True)
class Family:
    """Dotted paths of the parts of one architecture, all relative to what is named in the comment."""

    model_type: str = "bert"  # `model_type` of config.json
    pretraining_class: str = "BertForPreTraining"  # in transformers; carries every head the family was pre-trained with
    encoder: str = "bert"  # from the pre-training model
    embeddings: str = "embeddings"  # from the encoder
    word_embeddings: str = "word_embeddings"  # from the embeddings
    position_embeddings: str = "position_embeddings"  # from the embeddings
    segment_embeddings: str = "token_type_embeddings"  # from the embeddings
    embeddings_norm: str = "LayerNorm"  # from the embeddings
    layers: str = "encoder.layer"  # from the encoder
    pooler: str = "pooler"  # from the encoder
    self_attention: str = "attention.self"  # from a layer; holds query, key and value
    attention_output: str = "attention.output"  # from a layer; W_O, then add & norm
    intermediate: str = "intermediate"  # from a layer; the feed-forward part up to GELU
    output: str = "output"  # from a layer; the rest of the feed-forward part, then add & norm
    dense: str = "dense"  # from attention_output, intermediate or output: its weights
    norm: str = "LayerNorm"  # from attention_output or output: its LayerNorm
    activation: str = "intermediate_act_fn"  # from intermediate: its function
    masked_lm_head: str = "cls.predictions"  # from the pre-training model
    next_sentence_head: str = "cls.seq_relationship"  # from the pre-training model


FAMILIES = {family.model_type: family for family in [Family()]}


def family_of(model_type: object, name: str) -> Family:
    """The row for a `model_type`. Raises ModelError naming what can be read."""
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise ModelError(f"{name} is a model of type {str(model_type)[:40]!r}; BERT Explorer reads: {known}.")
    return FAMILIES[model_type]
