"""The expressions that name the parts of a model in a script: transformers' names, for each family."""

from dataclasses import dataclass, replace
from functools import cached_property

from explorer.bert import checkpoints
from explorer.bert.checkpoints import BUNDLED, Place
from explorer.bert.explorer import Explorer
from explorer.text.pieces import with_own_mask
from explorer.ui.subject import Subject

PLACE = "a folder, or an id on the Hugging Face hub"
TUNED = "tuned in the app, which keeps it: name a folder that holds such a model"
MASKS = "create_bidirectional_mask, create_bidirectional_sliding_window_mask"
ROTARY = f"""
    from transformers.masking_utils import {MASKS}
    masks = dict(full_attention={MASKS.split(", ")[0]}, sliding_attention={MASKS.split(", ")[1]})
    def run(layer, hidden):  # the layer, with the positions that it turns queries and keys by
        kind, places = layer.attention_type, torch.arange(hidden.shape[1])[None]
        mask = masks[kind](config=model.config, inputs_embeds=hidden, attention_mask=None)
        return layer(hidden, mask, model.model.rotary_emb(hidden, places, kind))
"""
TOKENS = 'tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])'


@dataclass(frozen=True)
class Names:
    """Expressions for the parts of one model; `at` is the variable that holds the model."""

    model: Explorer
    at: str = "model"
    kind: str = ""  # the class, if not the one that the family was pre-trained with

    @classmethod
    def of(cls, subject: Subject) -> "Names":
        """The names for the subject's model."""
        return cls(subject.model)

    def called(self, at: str) -> "Names":
        """The same names with the model in another variable."""
        return replace(self, at=at)

    # From a name to a model.

    def opened(self, *, eager: bool = False, place: str = "MODEL", tokenizer: str = "tokenizer") -> str:
        """Load tokenizer and model; `eager` attention returns its weights, which the faster implementations do not."""
        kind = self.kind or self.model.family.pretraining_class
        where = Place.of(self.model.name) if self.model.from_hub else Place(self.model.name, None)
        named = f"shipped('assets/models/{BUNDLED}')" if self.model.name == BUNDLED else repr(where.id)
        revision = f", revision={where.revision!r}" if where.revision else ""
        note = TUNED if self.model.name.startswith(checkpoints.TUNED) else f"or {PLACE}" if self.model.name == BUNDLED else PLACE
        attends = ', attn_implementation="eager"' if eager else ""
        quiet = "" if self._is_whole else "\nlogging.set_verbosity_error()  # it would list the weights that are not used"
        return f"""from transformers import AutoTokenizer, {kind}{", logging" if quiet else ""}
{place} = {named}  # {note}{quiet}
{tokenizer} = AutoTokenizer.from_pretrained({place}{revision})
{self.at} = {kind}.from_pretrained({place}, dtype="float32"{attends}{revision}).requires_grad_(False)"""

    @property
    def _is_whole(self) -> bool:
        """Whether the class's weights and the file's are the same set."""
        has, family = self.model.capabilities, self.model.family
        if self.kind:
            return not self.model.ignored and not self.model.capabilities.pooler
        heads = (has.fill_mask or has.replaced) and (has.next_sentence or not family.pair_head)
        return bool(heads) and not self.model.ignored

    # From texts to ids.

    def texts(self, *texts: str) -> list[str]:
        """The texts, with the model's own mask token in place of [MASK]."""
        return [with_own_mask(text, self.model.tokenizer.mask_token)[0] for text in texts]

    def encoded(self, text_a: str, text_b: str = "", name: str = "inputs", tokenizer: str = "tokenizer") -> str:
        """The ids of one text or two, truncated to the model's length."""
        given = ", ".join(repr(text) for text in self.texts(text_a, *([text_b] if text_b else [])))
        return f"{name} = {self.tokenized(given, tokenizer)}" + self.untyped(name)

    def tokenized(self, texts: str, tokenizer: str = "tokenizer") -> str:
        """The call that tokenizes texts."""
        return f'{tokenizer}({texts}, truncation=True, max_length={self.model.capabilities.max_tokens}, return_tensors="pt")'

    def untyped(self, name: str = "inputs") -> str:
        """A line that drops segment ids if the tokenizer makes them and the model does not take them."""
        if self.model.capabilities.segments or "token_type_ids" not in self.model.tokenizer.model_input_names:
            return ""
        return f'\n{name}.pop("token_type_ids")  # this model was trained without segments'

    def of_each_text(self, name: str, pool: str) -> str:
        """Lines that run each text and list under `name` what `pool` takes from its `states`."""
        untyped = self.untyped().replace("\n", "\n    ")
        return f"""{self.unnormed}{name} = []
for text in texts:
    inputs = {self.tokenized("text")}{untyped}
    states = {self.at}(**inputs, output_hidden_states=True).hidden_states
    {name}.append({pool})"""

    # The encoder.

    @property
    def encoder(self) -> str:
        """The encoder, as an attribute of the whole model."""
        return f"{self.at}.{self.model.family.encoder}"

    def hidden(self, name: str = "hidden_states", inputs: str = "inputs", attention: bool = False) -> str:
        """Every hidden state [layers + 1, tokens, hidden], and the attention weights if wanted."""
        lines = f"""{self.states(inputs, attention)}
{name} = torch.stack(outputs.hidden_states)[:, 0]  # [layers + 1, tokens, hidden]"""
        return lines + ("\nattention = torch.stack(outputs.attentions)[:, 0]  # [layers, heads, query, key]" if attention else "")

    def states(self, inputs: str = "inputs", attention: bool = False) -> str:
        """One forward pass, whose `outputs` hold every hidden state [1, tokens, hidden]."""
        also = ", output_attentions=True" if attention else ""
        return f"{self.unnormed}outputs = {self.at}(**{inputs}, output_hidden_states=True{also})"

    @property
    def unnormed(self) -> str:
        """If a norm follows the last layer, a line that keeps it for the heads only."""
        if not (norm := self.model.family.final_norm):
            return ""
        return f"final_norm, {self.encoder}.{norm} = {self.encoder}.{norm}, torch.nn.Identity()  # as the last layer leaves it\n"

    def attention(self, name: str = "attention", inputs: str = "inputs") -> str:
        """The attention weights of every head."""
        return f"""outputs = {self.at}(**{inputs}, output_attentions=True)
{name} = torch.stack(outputs.attentions)[:, 0]  # [layers, heads, query, key]"""

    @property
    def layers(self) -> str:
        """A line that lists the layers in the order they run."""
        path, shared = f"{self.encoder}.{self.model.family.layers}", self.model.family.shared_layers
        if not shared:
            return f"layers = {path}"
        count, groups = self.model.capabilities.layers, self.model.module.config.num_hidden_groups
        group = "0" if groups == 1 else f"place * {groups} // {count}"
        return f"layers = [layer for place in range({count}) for layer in {path}[{group}].{shared}]  # they share weights"

    @property
    def running(self) -> str:
        """The definition of `run`, for layers that need more than their hidden state."""
        return ROTARY.replace("model.", f"{self.at}.") if self.model.family.rotary else ""

    def run(self, layer: str, hidden: str) -> str:
        """A layer on hidden states [batch, tokens, hidden]."""
        return f"run({layer}, {hidden})" if self.model.family.rotary else f"{layer}({hidden})"

    @property
    def mixing(self) -> str:
        """The output projection W_O of a layer."""
        return f"layer.{self.model.family.attention_dense}"

    @cached_property
    def heads_of(self) -> str:
        """Lines that compute queries, keys and values [1, heads, tokens, size] of `layer` from `hidden` [1, tokens, hidden]."""
        heads, family = self.model.capabilities.heads, self.model.family
        if family.rotary:
            return f"""
from transformers.models.modernbert.modeling_modernbert import apply_rotary_pos_emb
projected = layer.attn.Wqkv(layer.attn_norm(hidden)).unflatten(-1, (3, {heads}, -1))
query, key, value = projected.permute(2, 0, 3, 1, 4)
places, kind = torch.arange(hidden.shape[1])[None], layer.attention_type
query, key = apply_rotary_pos_emb(query, key, *{self.encoder}.rotary_emb(hidden, places, kind))"""
        first = family.projections[0]
        paths = [path for path, _ in self.model.layers[0].module.named_modules()]
        path = next(path for path in paths if path.split(".")[-1] == first).removesuffix(f".{first}")
        read, bottleneck = ["hidden"] * 3, ""
        if "bottleneck" in paths:
            read, bottleneck = (
                ["for_query", "for_key", "for_value"],
                "\nfor_query, for_key, for_value, _ = layer.bottleneck(hidden)",
            )
        made = [f"layer.{path}.{name}({given})" for name, given in zip(family.projections, read, strict=True)]
        return f"""{bottleneck}
parts = {made[0]}, {made[1]}, {made[2]}
query, key, value = (part.unflatten(-1, ({heads}, -1)).transpose(1, 2) for part in parts)  # [1, heads, tokens, size]"""

    def attending(self, opening: str, then: str = "") -> str:
        """The `opening` of a function with an argument `off`: in it, layer `number` attends without the weights in `off[number]`.

        `then` is a line that uses `weights` [1, heads, query, key] and `value` there.
        """
        scores, masked, imported = "query @ key.mT * scaling", "", ""
        kept = f"\n        {then}" if then else ""
        if self.model.family.rotary:  # these layers take masks, since some have a sliding window
            scores += " + (0 if mask is None else mask)"
            masked = '\n    AttentionMaskInterface.register("cut", eager_mask)'
            imported = "\nfrom transformers.masking_utils import AttentionMaskInterface, eager_mask"
        return f"""
from transformers import AttentionInterface{imported}{opening}
    def attend(module, query, key, value, mask, scaling, **more):
        weights = ({scores}).softmax(-1)  # [1, heads, query, key]
        for place in off.get(number, []):
            weights[0][place] = 0{kept}
        return (weights @ value).transpose(1, 2), weights
    AttentionInterface.register("cut", attend){masked}
    {self.at}.set_attn_implementation("cut")"""

    # The heads.

    def final(self, hidden: str) -> str:
        """The last hidden states as the model's heads read them."""
        return f"final_norm({hidden})" if self.model.family.final_norm else hidden

    def words(self, hidden: str) -> str:
        """The masked-LM head on hidden states: logits."""
        made = self.final(hidden)
        for part in self.model.family.masked_lm_head:
            made = f"{self.at}.{part}({made})"
        return made

    def pair(self, hidden: str) -> str:
        """The next-sentence head on last hidden states [batch, tokens, hidden]: logits."""
        return f"{self.at}.{self.model.family.pair_head}({self.pooled(hidden)})"

    def pooled(self, hidden: str) -> str:
        """The pooler's output for last hidden states [batch, tokens, hidden]."""
        family = self.model.family
        if family.model_type == "albert":
            return f"{self.encoder}.pooler({hidden}[:, 0]).tanh()"
        return f"{self.encoder}.{family.pooler}({hidden})"

    @property
    def word_logits(self) -> str:
        """The attribute with the masked-LM logits in the outputs."""
        return "prediction_logits" if self.model.family.pair_head else "logits"

    @property
    def pair_logits(self) -> str:
        """The attribute with the next-sentence logits in the outputs."""
        return "sop_logits" if self.model.family.pair_order else "seq_relationship_logits"


def with_attention(names: Names, subject: Subject) -> list[str]:
    """The lines that compute the attention of every head."""
    return [names.opened(eager=True), names.encoded(subject.text_a, subject.text_b), names.attention(), TOKENS]


def with_hidden_states(names: Names, subject: Subject) -> list[str]:
    """The lines that compute every hidden state of an input."""
    return [names.opened(), names.encoded(subject.text_a, subject.text_b), names.hidden(), TOKENS]
