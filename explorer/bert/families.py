"""The families of BERT and its relatives: where transformers keeps each of their parts, and the facts that only names reveal.

How a family computes its attention is not described here: `attending` intercepts it in any family. So a new family is one more
row here and one more in `tests/families.py`, see assets/guide/contributing/family.md. Nothing here imports torch, which is slow.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from explorer.core.errors import ModelError


@dataclass(frozen=True)
class Part:
    """The meaning of a module of a layer, by its path in the layer: the name and the formula of its result.

    `reads` is the name and the formula of its input if that is computed between two modules, such as a residual sum.
    """

    path: str
    name: str
    formula: str
    reads: tuple[str, str] | None = None


# The tasks of heads other than the masked-LM head and the one for pairs, and the classes of transformers that have them.
LABELS, TAGS, ANSWER, REPLACED = "labels", "tags", "answer", "replaced"
_TASKS = {"ForSequenceClassification": LABELS, "ForTokenClassification": TAGS, "ForQuestionAnswering": ANSWER}

NEXT = "hidden state"  # the name of the part that ends a layer
INTO_NEURONS, OUT_OF_NEURONS = "feed-forward in", "feed-forward out"  # the names of the feed-forward block's two matrices
ATTENTION_NORM = "attention norm"  # the name of the norm that ends the attention block
ACTIVATION = "activation"  # the name of the part between the two matrices, until the function itself is known
RESIDUAL = ("feed-forward add", "+ y (residual)")


def _post_norm(mixed: str, norm: str, inner: str, active: str, outer: str, last: str) -> tuple[Part, ...]:
    """The parts of a BERT layer after its heads, in order, by their paths: Vaswani et al. 2017, section 3.1."""
    return (
        Part(mixed, "attention output", "z W_O + b_O"),
        Part(norm, ATTENTION_NORM, "y = LayerNorm", reads=("attention add", "+ x (residual)")),
        Part(inner, INTO_NEURONS, "y W₁ + b₁"),
        Part(active, ACTIVATION, "number by number"),
        Part(outer, OUT_OF_NEURONS, "W₂ + b₂"),
        Part(last, NEXT, "LayerNorm", reads=RESIDUAL),
    )


_BERT_LAYER = _post_norm(
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "intermediate.intermediate_act_fn",
    "output.dense",
    "output.LayerNorm",
)


@dataclass(frozen=True)
class Family:
    """One architecture. Paths are dotted, relative to what their comment names; an empty path means that the part is missing."""

    model_type: str  # `model_type` of config.json
    pretraining_class: str  # in transformers; has every head with which the family was pre-trained
    encoder: str  # from the pre-training model
    architecture: str = ""  # in `architectures` of config.json, if several families share a model_type
    # From the encoder: the embeddings; from these the tables of pieces, positions and segments, and the norm of their sum.
    embeddings: str = "embeddings"
    word_embeddings: str = "word_embeddings"
    position_embeddings: str = "position_embeddings"
    segment_embeddings: str = "token_type_embeddings"
    embeddings_norm: str = "LayerNorm"
    projection: str = ""  # from the encoder: from the width of the embeddings to that of the layers, if they differ
    layers: str = "encoder.layer"  # from the encoder
    shared_layers: str = ""  # from each of `layers`, if these are groups: layers that several places share
    rotary: str = ""  # from the encoder: rotates queries and keys by position
    attention_dense: str = "attention.output.dense"  # from a layer: W_O
    parts: tuple[Part, ...] = _BERT_LAYER  # all modules of a layer after its heads, in order, and those before them
    final_norm: str = ""  # from the encoder: applied to the last hidden state before any head
    pooler: str = ""  # from the encoder
    masked_lm_head: tuple[str, ...] = ()  # from the pre-training model, applied one after the other
    pair_head: str = ""  # from the pre-training model, reads the pooler's output
    pair_label: str = "next_sentence_label"  # the name of its label in the pre-training model
    pair_order: bool = False  # it was trained to tell the order of two sentences, not whether they belong together
    replaced_head: str = ""  # from the pre-training model: whether each piece was put there by another model
    activation: str = "hidden_act"  # the name of the activation's entry in config.json
    older_settings: tuple[str, ...] = ()  # entries of config.json that transformers converts

    @cached_property
    def out_of_neurons(self) -> str:
        """The path, from a layer, of the matrix W₂ that reads the neurons."""
        return next(part.path for part in self.parts if part.name == OUT_OF_NEURONS)

    @cached_property
    def attention_norm(self) -> str:
        """The path, from a layer, of the norm that ends its attention block; '' if there is none."""
        return next((part.path for part in self.parts if part.name == ATTENTION_NORM), "")

    @cached_property
    def last_norm(self) -> str:
        """The path, from a layer, of the LayerNorm that ends it; '' if there is none."""
        return self.parts[-1].path if self.parts[-1].name == NEXT else ""


_BERT = Family(
    "bert", "BertForPreTraining", "bert", pooler="pooler", masked_lm_head=("cls.predictions",), pair_head="cls.seq_relationship"
)
_ROBERTA = Family("roberta", "RobertaForMaskedLM", "roberta", masked_lm_head=("lm_head",))
_ELECTRA = Family("electra", "ElectraForMaskedLM", "electra", projection="embeddings_project")

FAMILIES = (
    _BERT,
    _ROBERTA,
    replace(_ROBERTA, model_type="xlm-roberta", pretraining_class="XLMRobertaForMaskedLM"),
    replace(_ROBERTA, model_type="camembert", pretraining_class="CamembertForMaskedLM"),
    Family(
        "distilbert",
        "DistilBertForMaskedLM",
        "distilbert",
        segment_embeddings="",
        layers="transformer.layer",
        attention_dense="attention.out_lin",
        parts=_post_norm("attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.activation", "ffn.lin2", "output_layer_norm"),
        masked_lm_head=("vocab_transform", "activation", "vocab_layer_norm", "vocab_projector"),
        activation="activation",
    ),
    Family(
        "albert",
        "AlbertForPreTraining",
        "albert",
        projection="encoder.embedding_hidden_mapping_in",
        layers="encoder.albert_layer_groups",
        shared_layers="albert_layers",
        attention_dense="attention.dense",
        parts=_post_norm("attention.dense", "attention.LayerNorm", "ffn", "activation", "ffn_output", "full_layer_layer_norm"),
        pooler="pooler",
        masked_lm_head=("predictions",),
        pair_head="sop_classifier",
        pair_label="sentence_order_label",
        pair_order=True,
    ),
    replace(
        _ELECTRA,
        pretraining_class="ElectraForPreTraining",
        architecture="ElectraForPreTraining",
        replaced_head="discriminator_predictions",
    ),
    replace(_ELECTRA, masked_lm_head=("generator_predictions", "generator_lm_head")),
    Family(
        "modernbert",
        "ModernBertForMaskedLM",
        "model",
        word_embeddings="tok_embeddings",
        position_embeddings="",
        segment_embeddings="",
        embeddings_norm="norm",
        layers="layers",
        rotary="rotary_emb",
        attention_dense="attn.Wo",
        parts=(
            Part("attn_norm", "norm before the attention", "LayerNorm"),
            Part("attn.Wo", "attention output", "z W_O"),
            Part("mlp_norm", "norm before the feed-forward", "LayerNorm", reads=("attention add", "y = … + x (residual)")),
            Part("mlp.Wi", INTO_NEURONS, "W₁, twice as wide: a half and its gate"),
            Part("mlp.act", ACTIVATION, "of the first half, number by number"),
            Part("mlp.Wo", OUT_OF_NEURONS, "W₂", reads=("gated", "× the gate, number by number")),
        ),
        final_norm="final_norm",
        masked_lm_head=("head", "decoder"),
        activation="hidden_activation",
        older_settings=("global_attn_every_n_layers", "global_rope_theta", "local_rope_theta"),
    ),
)

KNOWN = "BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT, ALBERT, ELECTRA and ModernBERT"  # for messages


def find_class(architectures: object) -> str:
    """The class of transformers that `architectures` of a config.json names first, '' for none."""
    first = architectures[0] if isinstance(architectures, list) and architectures else ""
    return first if isinstance(first, str) else ""


def stem_of(kind: str) -> str:
    """The family in the name of a class: 'Bert' for BertForMaskedLM and BertModel."""
    return kind.partition("For")[0].removesuffix("Model")


def task_of(name: str) -> str:
    """The task for which a class of transformers is fine-tuned: LABELS, TAGS or ANSWER, '' for any other class."""
    return next((task for ending, task in _TASKS.items() if name.endswith(ending)), "")


def family_of(model_type: object, architectures: object, name: str) -> Family:
    """The row for the `model_type` and the `architectures` of a config.json.

    Without a type, the class of transformers that is named first decides: no class belongs to two families. Raises ModelError,
    which names the known families.
    """
    saved = find_class(architectures)
    for family in FAMILIES:
        same = stem_of(saved) == stem_of(family.pretraining_class) if model_type is None else family.model_type == model_type
        if same and family.architecture in ("", saved):
            return family
    if model_type is None:
        raise ModelError(f'The config.json of {name} names no model_type. Add that of its family, such as "model_type": "bert".')
    raise ModelError(f"{name} is a model of type {str(model_type)[:40]!r}. BERT Explorer reads {KNOWN}.")
