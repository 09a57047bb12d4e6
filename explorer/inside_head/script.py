"""Scripts of the Inside a head tab: queries, keys and values, the steps of a layer, a causal mask, a batch, positions."""

from typing import Any

from explorer.inside_head.positions import MOST_POSITIONS
from explorer.ui.attention_data import telling_of
from explorer.ui.scripts.names import TOKENS, Names, with_attention
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject
from explorer.ui.view import View


def _layer(names: Names, subject: Subject) -> list[str]:
    """The lines that compute the queries, keys and values of the chosen layer."""
    layer = subject.selection.attention_layer + 1
    opening = [names.opened(), names.encoded(subject.text_a, subject.text_b), names.states(), TOKENS, names.layers]
    below = layer - 1
    reads = f"layer, hidden = layers[{below}], outputs.hidden_states[{below}]  # layer {layer} reads hidden state {below}"
    return [*opening, reads, names.heads_of]


def _near(subject: Subject) -> str:
    """A line for the scores outside a sliding window."""
    kind = getattr(subject.model.layers[subject.selection.attention_layer].module, "attention_type", "")
    if kind != "sliding_attention":
        return ""
    return """
        far = (places.T - places).abs() >= layer.attn.sliding_window  # this layer looks at what is near
        scaled = scaled.masked_fill(far, -torch.inf)
    """


def dots(view: View, subject: Subject) -> str:
    """One query and every key."""
    names, selection, found = Names.of(subject), subject.selection, telling_of(subject)
    token = subject.token if selection.token is not None or found.query is None else found.query
    return script(
        view.question,
        *_layer(names, subject),
        f"""
        head, token = {selection.head_index}, {token}  # from 0
        scores = query[0, head] @ key[0, head].T  # [query, key]
        scaled = scores / query.shape[-1] ** 0.5
        """,
        _near(subject),
        """
        weights = scaled.softmax(-1)[token]  # of this token for every key
        dots, scaled = scores[token], scaled[token]
        output = weights @ value[0, head]  # what the head hands on
        for name, *row in zip(tokens, dots.tolist(), scaled.tolist(), weights.tolist()):
            print(name, *(f"{number:.3f}" for number in row))
        """,
    )


def whole_layer(view: View, subject: Subject) -> str:
    """Every step from one hidden state to the next."""
    names, family = Names.of(subject), subject.model.family
    paths = {part.name: part.path for part in family.parts}
    after = _after(names, paths)
    return script(
        view.question,
        *_layer(names, subject),
        "scores = query @ key.transpose(2, 3)\nscaled = scores / query.shape[-1] ** 0.5",
        _near(subject),
        f"""
        weights = scaled.softmax(-1)
        context = weights @ value  # [1, heads, tokens, size]
        side_by_side = context.transpose(1, 2).flatten(2)
        mixed = {names.mixing}(side_by_side)
        """,
        after,
        f"""
        token, following = {subject.token}, following[0]  # the next hidden state
        print(tokens[token], "before", hidden[0, token, :4], "after", following[token, :4])
        """,
    )


def _after(names: Names, paths: dict[str, str]) -> str:
    """The steps of a layer after W_O."""
    family = names.model.family
    if family.rotary:
        return """
            y = hidden + mixed
            inner, gate = layer.mlp.Wi(layer.mlp_norm(y)).chunk(2, -1)
            following = y + layer.mlp.Wo(layer.mlp.act(inner) * gate)
        """
    if not paths:  # MobileBERT
        bottleneck = "for_query" in names.heads_of
        ffn = names.model.module.config.num_feedforward_networks > 1
        return f"""
            y = layer.attention.output.LayerNorm(mixed + {"layer.bottleneck(hidden)[3]" if bottleneck else "hidden"})
            {"for network in layer.ffn:" if ffn else ""}
            {"    y = network(y)" if ffn else ""}
            inner = layer.intermediate(y)
            following = layer.output(inner, y, hidden)
        """
    at = {name: f"layer.{path}" for name, path in paths.items()}
    return f"""
        y = {at["attention norm"]}(mixed + hidden)
        inner = {at["activation"]}({at["feed-forward in"]}(y))
        following = {at["hidden state"]}({at["feed-forward out"]}(inner) + y)
    """


def decoder(view: View, subject: Subject) -> str:
    """The head as it is, and with a causal mask."""
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    return script(
        view.question,
        *with_attention(Names.of(subject), subject),
        f"""
        weights = attention[{layer}, {head}]  # layer {layer + 1}, head {head + 1}: [query, key]
        causal = weights.tril()  # scores of −∞ above the diagonal give the same: the rest shares a weight of 1
        causal = causal / causal.sum(-1, keepdim=True)
        for token, row in zip(tokens, causal):
            print(token, row)
        """,
    )


def batch(view: Any, subject: Subject) -> str:
    """Two inputs in one batch, with and without the attention mask."""
    names, read, where = Names.of(subject), view.read_together(subject), subject.selection
    token = 0 if read.real.all() else view.query(subject, read)
    given = ((subject.text_a, subject.text_b), (view.second, ""))
    made = [names.encoded(*texts, name=name) for texts, name in zip(given, ("first", "second"), strict=True)]
    outputs = "model(**inputs, output_hidden_states=True, output_attentions=True)"
    return script(
        view.question,
        names.opened(eager=True),
        *(one.replace(', return_tensors="pt"', "") for one in made),
        f"""
        inputs = tokenizer.pad([first, second], return_tensors="pt")  # the shorter one is filled up
        mask = inputs["attention_mask"]  # 1 for a token, 0 for [PAD]
        print(inputs["input_ids"], mask)
        row, layer, head, token = {read.row}, {where.attention_layer}, {where.head_index}, {token}  # from 0
        real = mask[row].bool()
        place = int(mask[row].argmax()) + token
        """,
        names.unnormed,
        f"""
        alone = model(**tokenizer.pad([(first, second)[row]], return_tensors="pt"), output_hidden_states=True)
        weights, largest_change = [], []
        for attention_mask in (mask, torch.ones_like(mask)):  # with the mask, and as if there were none
            inputs["attention_mask"] = attention_mask
            outputs = {outputs}
            weights.append(outputs.attentions[layer][row, head, place])
            moved = outputs.hidden_states[-1][row, real] - alone.hidden_states[-1][0]
            largest_change.append(moved.abs().max())
            print("weight on [PAD]", weights[-1][~real].sum(), "largest change", largest_change[-1])
        """,
    )


def positions(view: View, subject: Subject) -> str:
    """The learned vectors of positions beside sinusoids, and how alike their rows are."""
    names, model = Names.of(subject), subject.model
    step = -(-len(model.position_table) // MOST_POSITIONS)
    begin = f"{model.first_position}:" if model.first_position else ":"
    table = f"{names.encoder}.{model.family.embeddings}.{model.family.position_embeddings}.weight[{begin}]"
    opening = "\n".join(line for line in names.opened().splitlines() if not line.startswith("tokenizer"))
    return script(
        view.question,
        opening.replace("AutoTokenizer, ", ""),
        f"""
        table = {table}  # [positions, hidden]
        places, sizes = torch.arange(len(table))[:, None], torch.arange(0, table.shape[1], 2)
        angles = places / 10000 ** (sizes.double() / table.shape[1])  # Vaswani et al. 2017, section 3.5
        waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :table.shape[1]].float()
        learned, waves = table[::{step}], waves[::{step}]  # every {step}th position
        def cosines(vectors):
            unit = vectors / vectors.norm(dim=1, keepdim=True)
            return unit @ unit.T
        learned_alike, waves_alike = cosines(learned), cosines(waves)
        print(learned_alike[0, :8], waves_alike[0, :8])
        """,
    )


CODE = {
    "inside-head/dots": dots,
    "inside-head/walk": dots,
    "inside-head/layer": whole_layer,
    "inside-head/decoder": decoder,
    "inside-head/batch": batch,
    "inside-head/positions": positions,
}
