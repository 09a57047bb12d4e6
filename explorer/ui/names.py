"""The names of a model's parts in transformers, in place of BERT's, and what a script may know of an input by name."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from explorer.bert import checkpoints
from explorer.bert.checkpoints import BUNDLED
from explorer.bert.explorer import Explorer
from explorer.bert.families import family_of
from explorer.bert.hub import Place
from explorer.text.pieces import with_own_mask
from explorer.ui.subject import Subject

BERT = family_of("bert", [], "BERT")
PLACE = "a folder, or an id on the Hugging Face hub"
TUNED = "tuned in the app, which keeps it: name a folder that holds such a model"
ARGUMENT = r"((?:[^()]|\([^()]*\))*)"  # of a call
TABLES = ("word_embeddings", "position_embeddings", "segment_embeddings", "embeddings_norm")


@dataclass(frozen=True)
class Names:
    """The parts of one model; `at` is the variable that holds it, and `kind` its class if it is not the pre-training one."""

    model: Explorer
    at: str = "model"
    kind: str = ""

    def texts(self, *texts: str) -> list[str]:
        """The texts, with the model's own mask token in place of [MASK]."""
        return [with_own_mask(text, self.model.tokenizer.mask_token)[0] for text in texts]

    def values(self, subject: Subject) -> dict[str, Any]:
        """What is chosen on the page or follows from the model, by the names in scripts; layers and heads from 1."""
        text_a, text_b = self.texts(subject.text_a, subject.text_b)
        layer, head = subject.selection.attention_layer + 1, subject.selection.head_index + 1
        return {
            **{"text_a": text_a, "text_b": text_b or None, "masked": None, "is_whole": self.is_whole},
            **{"layer": layer, "head": head, "token": subject.token, "takes_segments": self._has_segments},
            **{"rotary": bool(self.model.family.rotary), "bottleneck": self.bottleneck},
        }

    @property
    def place(self) -> str:
        """Python for where the model is."""
        return f"shipped('assets/models/{BUNDLED}')" if self.model.name == BUNDLED else repr(self._where.id)

    @property
    def _where(self) -> Place:
        return Place.of(self.model.name) if self.model.from_hub else Place(self.model.name, None)

    @property
    def _kind(self) -> str:
        return self.kind or self.model.family.pretraining_class

    @property
    def is_whole(self) -> bool:
        """Whether the class's weights and the file's are the same set."""
        has, family = self.model.capabilities, self.model.family
        if self.kind:
            return not self.model.ignored and not has.pooler
        heads = (has.fill_mask or has.replaced) and (has.next_sentence or not family.pair_head)
        return bool(heads) and not self.model.ignored

    @property
    def bottleneck(self) -> bool:
        """Whether its layers narrow their input before the attention, as MobileBERT's do."""
        return hasattr(self.model.layers[0].module, "bottleneck")

    def adapted(self, text: str) -> str:
        """A statement about BERT, for this model."""
        for pattern, name in self._replacements:
            text = re.sub(pattern, name, text, flags=re.MULTILINE)
        return text

    def unnormed(self, script: str) -> str:
        """A script that reads hidden states, with a norm after the last layer kept for the heads only, if there is one."""
        norm = self.model.family.final_norm
        if not norm or "output_hidden_states" not in script:
            return script
        path = f"{self.encoder}.{norm}"
        line = f"final_norm, {path} = {path}, torch.nn.Identity()  # hidden states are what the last layer leaves"
        return re.sub(rf"^{self.at} = .*$", rf"\g<0>\n{line}", script, count=1, flags=re.MULTILINE)

    @property
    def encoder(self) -> str:
        return f"{self.at}.{self.model.family.encoder}"

    @cached_property
    def _replacements(self) -> list[tuple[str, str]]:
        """Patterns that match what scripts say of BERT, and what they are to say, in this order."""
        family, at = self.model.family, rf"\b{self.at}"
        revision = f", revision={self._where.revision!r}".replace("\\", r"\\") if self._where.revision else ""
        note = TUNED if self.model.name.startswith(checkpoints.TUNED) else f"or {PLACE}" if self.model.name == BUNDLED else PLACE
        plain = [
            (f"or {PLACE}", note),
            (r"from_pretrained\((MODEL|OTHER)", rf"from_pretrained(\1{revision}"),
            (r"max_length=\d+", f"max_length={self.model.capabilities.max_tokens}"),
            (rf"{at}\.cls\.predictions\({ARGUMENT}\)", self._words),
            (rf"{at}\.bert\.pooler\({ARGUMENT}\)", self._pooled),
            (rf"{at}\.cls\.seq_relationship\b", f"{self.at}.{family.pair_head}"),
            (r"\.prediction_logits\b", ".prediction_logits" if family.pair_head else ".logits"),
            (r"\.seq_relationship_logits\b", ".sop_logits" if family.pair_order else ".seq_relationship_logits"),
            *((rf"\bembeddings\.{getattr(BERT, name)}\b", f"embeddings.{getattr(family, name)}") for name in TABLES),
            (rf"{at}\.bert\.projection\b", f"{self.encoder}.{family.projection}"),
            (rf"\blayers = {at}\.bert\.encoder\.layer$", self._layers),
            (rf"{at}\.bert\b", self.encoder),
            *self._of_a_layer,
            (r"\bIsNext\b", self.model.pair_names[0]),
            (r"\bNotNext\b", self.model.pair_names[1]),
            (rf"\b{BERT.pretraining_class}\b", self._kind),
        ]
        given = "token_type_ids" in self.model.tokenizer.model_input_names
        return [*plain, self._untyped] if given and not self._has_segments else plain

    @property
    def _has_segments(self) -> bool:
        return self.model.capabilities.segments and "token_type_ids" in self.model.tokenizer.model_input_names

    @property
    def _untyped(self) -> tuple[str, str]:
        """Segment ids are dropped if the tokenizer makes them and the model does not take them."""
        line = r'\1\2.pop("token_type_ids")  # this model was trained without segments'
        return r"^( *)(\w+) = \w*tokenizer\(.*truncation=True.*$", rf"\g<0>\n{line}"

    @property
    def _of_a_layer(self) -> list[tuple[str, str]]:
        family, first = self.model.family, self.model.family.projections[0]
        found = [(r"\blayer\.attention\.output\.dense\b", f"layer.{family.attention_dense}")]
        if family.rotary:
            found.append((r"\blayer\.output\.dense\b", f"layer.{family.out_of_neurons}"))
            return [*found, (r"(?<![\w.])layer\((hidden|states\[-1\])\)", r"run(layer, \1)")]
        paths = [path for path, _ in self.model.layers[0].module.named_modules()]
        path = next(path for path in paths if path.split(".")[-1] == first).removesuffix(f".{first}")
        for mine, name in zip(BERT.projections, family.projections, strict=True):
            found.append((rf"\blayer\.attention\.self\.{mine}\b", f"layer.{path}.{name}"))
        for one, part in zip(BERT.parts, family.parts, strict=False):
            found.append((rf"\blayer\.{re.escape(one.path)}\b", f"layer.{part.path}"))
        return found

    @property
    def _layers(self) -> str:
        path, shared = f"layers = {self.encoder}.{self.model.family.layers}", self.model.family.shared_layers
        if not shared:
            return path
        count, groups = self.model.capabilities.layers, self.model.module.config.num_hidden_groups
        group = "0" if groups == 1 else f"place * {groups} // {count}"
        each = f"layer for place in range({count}) for layer in {path.removeprefix('layers = ')}[{group}].{shared}"
        return f"layers = [{each}]  # they share weights"

    @property
    def _words(self) -> str:
        """The masked-LM head on the first group of a pattern."""
        made = r"final_norm(\1)" if self.model.family.final_norm else r"\1"
        for part in self.model.family.masked_lm_head:
            made = f"{self.at}.{part}({made})"
        return made

    @property
    def _pooled(self) -> str:
        """The pooler on the first group of a pattern."""
        if self.model.family.model_type == "albert":
            return rf"{self.encoder}.pooler(\1[:, 0]).tanh()"
        return rf"{self.encoder}.{self.model.family.pooler}(\1)"
