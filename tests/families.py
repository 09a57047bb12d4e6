"""Tiny random models of every family, saved to disk as a user's would be, and what transformers itself says of them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import VOCABULARY

SENTENCES = (
    "The man went to the store because he was happy.",
    "She bought milk, and it was a slow sad dog that ate it!",
    "Le café était fermé à Zürich; 東京 は 大きい 😀 مرحبا",
    "keys and queries and values, counted again and again 0123456789",
)
SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32, "initializer_range": 0.5}


def wordpiece(name: str = "BertTokenizer") -> Any:
    """A tokenizer of BERT's kind."""
    import transformers

    return getattr(transformers, name)(vocab={piece: i for i, piece in enumerate(VOCABULARY)})


def byte_level(**specials: str) -> Any:
    """Pieces of bytes, a space before a word being part of it: RoBERTa's; with special tokens of one's own, ModernBERT's."""
    import transformers
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import TemplateProcessing

    trained = ByteLevelBPETokenizer()
    known = list(specials.values()) or list(FAIRSEQ)
    trained.train_from_iterator(SENTENCES * 4, vocab_size=340, special_tokens=known, show_progress=False)
    inner = trained._tokenizer
    if not specials:
        model = json.loads(inner.to_str())["model"]
        return transformers.RobertaTokenizer(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]])
    # One of no class of its own, which gives no segments.
    ids = [(piece, inner.token_to_id(piece)) for piece in ("[CLS]", "[SEP]")]
    inner.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ids)
    names = ["input_ids", "attention_mask"]
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, model_input_names=names, **specials)


def sentencepiece(name: str, specials: tuple[str, ...]) -> Any:
    """A unigram tokenizer: '▁' stands for the space before a word."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=150, special_tokens=list(specials), unk_token="<unk>", show_progress=False)
    inner.train_from_iterator(SENTENCES * 4, trainer)
    vocabulary = [tuple(pair) for pair in json.loads(inner.to_str())["model"]["vocab"]]
    return getattr(transformers, name)(vocab=vocabulary)


FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
MODERN = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}


@dataclass(frozen=True)
class Kind:
    """One family as a user may bring it."""

    model: str  # the class of transformers that it is saved from
    tokenizer: Callable[[], Any]
    config: dict[str, Any] = field(default_factory=dict)


DISTIL = {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32, "initializer_range": 0.5}
ELECTRA = {**SIZES, "embedding_size": 12}
ROBERTA = {**SIZES, "max_position_embeddings": 514, "type_vocab_size": 1, "pad_token_id": 1}
KINDS = {
    "bert": Kind("BertForPreTraining", wordpiece, SIZES),
    "roberta": Kind("RobertaForMaskedLM", byte_level, ROBERTA),
    "xlm-roberta": Kind("XLMRobertaForMaskedLM", lambda: sentencepiece("XLMRobertaTokenizer", FAIRSEQ), ROBERTA),
    "camembert": Kind("CamembertForMaskedLM", lambda: sentencepiece("CamembertTokenizer", FAIRSEQ), ROBERTA),
    "distilbert": Kind("DistilBertForMaskedLM", lambda: wordpiece("DistilBertTokenizer"), DISTIL),
    "albert": Kind(
        "AlbertForPreTraining",
        lambda: sentencepiece("AlbertTokenizer", ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")),
        {**SIZES, "embedding_size": 12},
    ),
    "electra-generator": Kind("ElectraForMaskedLM", wordpiece, ELECTRA),
    "electra-discriminator": Kind("ElectraForPreTraining", wordpiece, ELECTRA),
    "mobilebert": Kind(
        "MobileBertForPreTraining",
        wordpiece,
        {**SIZES, "embedding_size": 12, "intra_bottleneck_size": 8, "num_feedforward_networks": 2, "initializer_range": 0.1},
    ),
    "modernbert": Kind(
        "ModernBertForMaskedLM",
        lambda: byte_level(**MODERN),
        {**SIZES, "local_attention": 16, "max_position_embeddings": 1024, "global_attn_every_n_layers": 2},
    ),
}


def write_family(folder: Path, name: str, model: str | None = None, **config: Any) -> Path:
    """Write a tiny random model of a family with its tokenizer, from another class of transformers if one is named."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    kind = KINDS[name]
    tokenizer = kind.tokenizer()
    made = getattr(transformers, model or kind.model)
    settings = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **kind.config, **config}
    module = made(made.config_class(**settings))
    for parameter in module.parameters():  # a bias of zeros or a norm of ones would hide that it is left out
        parameter.data += 0.1 * torch.randn_like(parameter)
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
