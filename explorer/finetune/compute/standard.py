"""A run as a checkpoint of transformers' own classes, which its pipelines and the Hub know: no code of this app is needed.

These classes have a layer between the encoder and the last linear layer, which differs by family. Where a head reads [CLS]
directly, that layer is made an identity: a tanh by numbers so small that it is linear there (off by x³/3 · 1e-8), a ReLU or GELU
by numbers so large that they pass unchanged.
"""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

from explorer.bert.explorer import Explorer, load
from explorer.core.engine import no_grad, torch, transformers
from explorer.core.errors import InputError
from explorer.finetune.compute.predictor import Predictor

SMALL, LARGE = 1e-4, 64.0  # see above
_DENSE = "classifier.dense", "classifier.out_proj"
_HEADS: dict[str, tuple[str, str, str]] = {  # for texts: the layer before the last, the last one, and the activation between them
    "bert": ("bert.pooler.dense", "classifier", "tanh"),
    "albert": ("albert.pooler", "classifier", "tanh"),
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert"), (*_DENSE, "tanh")),
    "electra": (*_DENSE, "gelu"),
    "distilbert": ("pre_classifier", "classifier", "relu"),
}


def why_not(predictor: Predictor, model: Explorer) -> str:
    """A sentence on why transformers has no class for a predictor; '' if it has one."""
    if predictor.head.hidden_weight is not None:
        return "The classes of transformers have one linear layer for a head; train a linear head for them."
    if predictor.pooling not in predictor.standard_poolings:
        instead = "the first piece of a word" if predictor.kind == "tags" else "[CLS] or the pooler"
        return f"The classes of transformers read {instead}; choose that under 'More' and train again."
    if model.family.model_type not in _HEADS:
        return f"The head that transformers gives a {model.family.model_type} is built otherwise; take the zip with predict.py."
    return ""


def write_standard(predictor: Predictor, folder: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer's files. Raises InputError with the sentence of `why_not`."""
    base = load(predictor.model)
    _module(predictor, base).save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)


def write_onnx(predictor: Predictor, folder: Path) -> None:
    """Write model.onnx, config.json and the tokenizer's files with torch's exporter; batch and length are dynamic.

    Raises InputError with the sentence of `why_not`.
    """
    base = load(predictor.model)
    module = _module(predictor, base)
    texts = ["one", "and another, longer one"]
    encoded = dict(base.tokenizer(texts, padding=True, return_tensors="pt"))
    if getattr(module.config, "type_vocab_size", 0) < 2:
        encoded.pop("token_type_ids", None)
    names = ["start_logits", "end_logits"] if predictor.kind == "spans" else ["logits"]
    free = {name: dict.fromkeys(range(2), torch.export.Dim.AUTO) for name in encoded}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own parts
        torch.onnx.export(
            module,
            (),
            kwargs=encoded,
            f=folder / "model.onnx",
            input_names=list(encoded),
            output_names=names,
            dynamic_shapes=free,
            external_data=False,
            verbose=False,
        )
    module.config.save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)


def _module(predictor: Predictor, base: Explorer) -> transformers.PreTrainedModel:
    """The encoder and the head as a class of transformers."""
    if why := why_not(predictor, base):
        raise InputError(why)
    first = predictor.layer - predictor.layers_trained
    trained = predictor.top.layers if predictor.top is not None else ()
    pooler = predictor.top.pooler if predictor.top is not None else None
    encoder = base.module_with(dict(enumerate(trained, start=first)), pooler).base_model
    config = copy.deepcopy(encoder.config)
    config.num_hidden_layers = predictor.layer
    config.id2label = dict(enumerate(predictor.labels))
    config.label2id = {label: index for index, label in config.id2label.items()}
    if predictor.kind == "number":
        config.problem_type = "regression"
    module = getattr(transformers, predictor.auto_class).from_config(config).eval()
    module.base_model.load_state_dict(encoder.state_dict(), strict=False)
    _write_head(module, predictor, base)
    return module


@no_grad
def _write_head(module: Any, predictor: Predictor, base: Explorer) -> None:
    """Copy the head into the module; where it reads [CLS] of texts, make the layer between it and the encoder an identity."""
    weight, bias = torch.from_numpy(predictor.head.weight), torch.from_numpy(predictor.head.bias)
    before, name, active = _HEADS[base.family.model_type]
    name = {"spans": "qa_outputs", "tags": "classifier"}.get(predictor.kind, name)
    if predictor.pooling == "cls":
        straight, between = active == "tanh", module.get_submodule(before)
        between.weight.copy_(torch.eye(len(between.weight)) * (SMALL if straight else 1.0))
        between.bias.fill_(0.0 if straight else LARGE)
        weight, bias = (weight / SMALL, bias) if straight else (weight, bias - LARGE * weight.sum(1))
    last = module.get_submodule(name)
    last.weight.copy_(weight)
    last.bias.copy_(bias)
