"""Tiny random models of every family, saved to disk like a user's, and the reference values from transformers."""

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
    import transformers

    return getattr(transformers, name)(vocab={piece: i for i, piece in enumerate(VOCABULARY)})


def byte_level(**specials: str) -> Any:
    """Byte-level pieces that include the space before a word: RoBERTa's, or with other special tokens ModernBERT's."""
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
    # The general tokenizer class, without segments.
    ids = [(piece, inner.token_to_id(piece)) for piece in ("[CLS]", "[SEP]")]
    inner.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ids)
    names = ["input_ids", "attention_mask"]
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, model_input_names=names, **specials)


def sentencepiece(name: str, specials: tuple[str, ...]) -> Any:
    """A unigram tokenizer: '▁' stands for the space before a word. Its pieces are written out, since training differs by run."""
    import transformers

    starts = {f"▁{word[:4]}": -4.0 for text in SENTENCES for word in text.split()}
    letters = {letter: -8.0 for text in SENTENCES for letter in text.replace(" ", "▁")}
    pieces = sorted((starts | letters).items())
    return getattr(transformers, name)(vocab=[*((special, 0.0) for special in specials), *pieces])


FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
MODERN = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}


@dataclass(frozen=True)
class Kind:
    """A model family, as a user may bring it."""

    model: str  # the transformers class that it is saved from
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
    for parameter in module.parameters():  # zero biases or norms of ones would hide that they are left out
        parameter.data += 0.1 * torch.randn_like(parameter)
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


TUNED = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
LABELS = {"id2label": {0: "sad", 1: "calm", 2: "happy"}, "label2id": {"sad": 0, "calm": 1, "happy": 2}}
HEADINGS = ("model", "loads", "attention", "hidden states", "fill-mask", "pair head", "replaced pieces", "tuned heads")
PAIR = ("Who went to the store?", "The man went to the store because he was happy.")


def write_tuned(folder: Path, name: str, ending: str, **config: Any) -> Path:
    """A tiny random checkpoint of a family, as if fine-tuned: `ending` is one of TUNED."""
    base = KINDS[name].model.replace("ForPreTraining", "").replace("ForMaskedLM", "")
    labels = {} if ending == "ForQuestionAnswering" else LABELS
    return write_family(folder, name, f"{base}{ending}", **{**labels, **config})


def own(folder: Path, kind: str, model: Any, texts: tuple[str, ...]) -> Any:
    """The output of a transformers class for texts, with eager attention and the tokenizer's ids."""
    import torch
    import transformers

    module = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").eval()
    encoded = model.tokenizer(*texts, truncation="longest_first", max_length=model.capabilities.max_tokens, return_tensors="pt")
    with torch.no_grad():
        return module(**encoded, output_hidden_states=True, output_attentions=True)


def errors(folder: Path, name: str) -> dict[str, float | None]:
    """The largest differences from transformers, for a pair and for too long a text; None for heads that the model lacks."""
    import numpy as np

    import explorer

    model = explorer.load(folder)
    found: dict[str, float | None] = dict.fromkeys(HEADINGS[2:])
    for texts in (PAIR, (PAIR[1] * 200, PAIR[0])):
        trace, theirs = model.trace(*texts), own(folder, KINDS[name].model, model, texts)
        states = [*trace.states[:-1], model.final(trace.states[-1])]
        logits = next((theirs[key][0] for key in ("prediction_logits", "logits") if key in theirs), None)
        pair = next((theirs[key] for key in ("sop_logits", "seq_relationship_logits") if key in theirs), None)
        has = model.capabilities
        differences = {
            "attention": max(np.abs(trace.attention(at) - one[0].numpy()).max() for at, one in enumerate(theirs.attentions)),
            "hidden states": max(float((a - b[0]).abs().max()) for a, b in zip(states, theirs.hidden_states, strict=True)),
            "fill-mask": float((model.masked_lm(trace.states[-1]) - logits).abs().max()) if has.fill_mask else None,
            "pair head": float((model.next_sentence_logits(trace.states[-1:]) - pair).abs().max()) if has.next_sentence else None,
            "replaced pieces": float((model.replaced_logits(trace.states[-1:])[0] - logits).abs().max())
            if has.replaced
            else None,
        }
        for heading, value in differences.items():
            found[heading] = value if value is None else max(found[heading] or 0.0, float(value))
    return found


def tuned_error(folder: Path, name: str, ending: str) -> float:
    """The largest difference of a tuned head's logits from transformers."""
    import torch

    import explorer

    model = explorer.load(write_tuned(folder, name, ending))
    theirs = own(folder, json.loads((folder / "config.json").read_text())["architectures"][0], model, PAIR)
    logits = theirs.logits if "logits" in theirs else torch.stack([theirs.start_logits, theirs.end_logits], -1)
    return float((model.own_head.logits(model.final(model.trace(*PAIR).states[-1:])) - logits).abs().max())


def table() -> list[tuple[str, ...]]:
    """A row for each kind of model, '–' for heads that its family lacks."""
    import tempfile

    rows = []
    for name in KINDS:
        with tempfile.TemporaryDirectory() as place:
            found = errors(write_family(Path(place) / name, name), name)
            found["tuned heads"] = max(tuned_error(Path(place) / ending, name, ending) for ending in TUNED)
        rows.append((name, "✓", *("–" if value is None else f"{value:.0e}" for value in found.values())))
    return rows


if __name__ == "__main__":
    import os

    os.environ["HF_HUB_OFFLINE"] = "1"
    for row in (HEADINGS, ("---",) * len(HEADINGS), *table()):
        print(f"| {' | '.join(row)} |")


def edit(folder: Path, file: str = "config.json", drop: tuple[str, ...] = (), **entries: Any) -> None:
    """Change entries of a JSON file of a model, or write it; those to `drop` are left out."""
    path = folder / file
    written = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({name: value for name, value in (written | entries).items() if name not in drop}))
