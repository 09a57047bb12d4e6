"""Attention: weights, parts of them, numbers of every head, rollout."""

from typing import Any

from explorer.ui.attention_data import ALL_MEAN, HEAD_MEAN, LAYER_MEAN, ONE_HEAD, VALUE
from explorer.ui.scripts.names import Names, with_attention
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject
from explorer.ui.view import View


def all_heads(view: View, subject: Subject) -> str:
    """Every head."""
    return script(
        view.question,
        *with_attention(Names.of(subject), subject),
        """
        strongest = attention.amax((2, 3))  # [layers, heads]
        for layer, row in enumerate(strongest.tolist(), start=1):
            print("layer", layer, *(f"{weight:.2f}" for weight in row))
        """,
    )


def one_head(view: Any, subject: Subject) -> str:
    """One head or a mean of several, and the part of the matrix that is shown."""
    names, selection = Names.of(subject), subject.selection
    layer, head = selection.attention_layer, selection.head_index
    chosen = {
        ONE_HEAD: f"attention[{layer}, {head}]",
        LAYER_MEAN: f"attention[{layer}].mean(0)",
        HEAD_MEAN: f"attention[:, {head}].mean(0)",
        ALL_MEAN: "attention.mean((0, 1))",
    }[view.average]
    shows = f"layer, head = {layer + 1}, {selection.head}\n" if view.average == ONE_HEAD else ""
    chosen = chosen.replace(f"[{layer}, {head}]", "[layer - 1, head - 1]")
    sides, lines = _sides(view, subject)
    show = """
        for token, row in zip(tokens, weights):
            print(token, row.round(3))
    """
    if view.group != "tokens" or sides:
        show = "print(weights.round(3))  # rows are queries, columns are keys"
    opening = with_attention(names, subject)
    if view.measure == VALUE:
        opening[2:3] = [names.hidden(attention=True), _value_lengths(names)]
    return script(
        view.question, *opening, f"{shows}weights = {chosen}.numpy()  # [query, key]", *lines, sides, _top(view.top_p), show
    )


def _value_lengths(names: Names) -> str:
    """The attention weights times the norm of each key's value after W_O."""
    heads_of = names.heads_of.strip("\n").replace("\n", "\n    ")
    imports = "\n".join(line.strip() for line in heads_of.splitlines() if line.strip().startswith("from "))
    body = "\n".join(f"    {line.strip()}" for line in heads_of.splitlines() if not line.strip().startswith("from "))
    heads = names.model.capabilities.heads
    return f"""{imports}
{names.layers}
lengths = []  # [heads, key] a layer: of f(x) = (x W_V + b_V) W_O
for layer, hidden in zip(layers, outputs.hidden_states):
{body}
    output = {names.mixing}.weight.T.unflatten(0, ({heads}, -1))  # [heads, size, hidden]
    lengths.append((value[0] @ output).norm(dim=-1))
attention = attention * torch.stack(lengths)[:, :, None]  # the length of what is really added"""


def _sides(view: Any, subject: Subject) -> tuple[str, list[str]]:
    """The lines that leave out rows and columns, and those before them that group tokens."""
    grouped, encoding = [], subject.trace.encoding
    side = "side = np.array([-1 if one is None else one for one in inputs.sequence_ids(0)])  # -1: added by the tokenizer"
    if view.group != "tokens":
        groups = encoding.word_groups if view.group == "words" else encoding.sentence_groups
        grouped = [
            f"starts = {[group[0] for group in groups]}  # the first token of each of the {view.group}",
            "sizes = np.diff([*starts, len(tokens)])",
            "weights = np.add.reduceat(np.add.reduceat(weights, starts, 1), starts, 0) / sizes[:, None]",
        ]
    if view.specials == "all" and view.direction == "all":
        return "", grouped
    at = "" if view.group == "tokens" else "[starts]"
    lines = [side.replace(")  #", f"){at}  #")]
    special = "side >= 0" if view.specials != "all" else "side == side"
    lines += [f"queries = keys = {special}"]
    if view.specials == "renormalised":
        lines += [
            "weights = weights * keys",
            "left = weights.sum(1, keepdims=True)",
            "weights = weights / np.where(left == 0, 1, left)",
        ]
    if view.direction != "all":
        lines += [_segments(subject, at)]
        query, key = ("AB".index(letter) for letter in view.direction.split("→"))
        lines += [f"queries, keys = queries & (segments == {query}), keys & (segments == {key})  # 0 is A, 1 is B"]
    return "\n".join([*lines, "weights = weights[np.ix_(queries, keys)]"]), grouped


def _segments(subject: Subject, at: str) -> str:
    if subject.model.capabilities.segments and "token_type_ids" in subject.model.tokenizer.model_input_names:
        return f'segments = inputs["token_type_ids"][0].numpy(){at}'
    return "segments = np.zeros(len(side))  # this model has none"


def _top(share: float) -> str:
    if share >= 100:
        return ""
    return f"""
        order = np.argsort(-weights, axis=1, kind="stable")  # of each row the strongest that hold {share:g} %
        ranked = np.take_along_axis(weights, order, 1).astype(float)
        needed = ranked.cumsum(1) - ranked < ({share / 100} - 1e-6) * ranked.sum(1, keepdims=True)
        kept = np.zeros(weights.shape, bool)
        np.put_along_axis(kept, order, needed, 1)
        weights = np.where(kept, weights, 0)
    """


SIDE = "side = torch.tensor([-1 if one is None else one for one in inputs.sequence_ids(0)])  # -1: added by the tokenizer"
WORDS = f"{SIDE}\nwords = side >= 0"
FORMULAS = {  # the lines that a number of every head needs, and its own: [layers, heads]
    "entropy": ("", "-(attention * attention.clamp_min(1e-38).log()).sum((2, 3)) / (n * math.log(max(n, 2)))"),
    "distance": ("places = torch.arange(n)", "(attention * (places[:, None] - places).abs()).sum((2, 3)) / n"),
    "confidence": (WORDS, "attention[..., words].amax(3)[..., words].mean(2)"),
    "cls": (SIDE, "attention[..., :1].sum(3).mean(2) * (side[0] < 0)"),
    "sep": (SIDE, "attention[..., 1:][..., side[1:] < 0].sum(3).mean(2)"),
    "self": ("", "attention.diagonal(0, 2, 3).mean(2)"),
    "previous": ("", "attention.diagonal(-1, 2, 3).mean(2)"),
    "next": ("", "attention.diagonal(1, 2, 3).mean(2)"),
    "same_token": (
        f'{WORDS}\nids = inputs["input_ids"][0]\n'
        "same = (ids[:, None] == ids) & words[:, None] & words & ~torch.eye(n, dtype=torch.bool)",
        "(attention * same).sum((2, 3)) / same.any(1).sum().clamp_min(1)",
    ),
    "word": (WORDS, "((attention * (1 - torch.eye(n)))[..., words].amax(3))[..., words].mean(2)"),
    "ahead": (WORDS, "(attention * (words[:, None] & words).triu(1)).sum((2, 3)) / words.sum()"),
}


def _needs(keys: list[str]) -> str:
    return "\n".join(dict.fromkeys(line for key in keys for line in FORMULAS[key][0].splitlines()))


def metric(view: Any, subject: Subject) -> str:
    """One number of every head."""
    made = f"n = len(tokens)\n{_needs([view.metric])}\nmetric = {FORMULAS[view.metric][1]}  # [layers, heads]"
    return script(view.question, *with_attention(Names.of(subject), subject), made, "print(metric)")


def metrics(view: View, subject: Subject) -> str:
    """Every number of every head."""
    rows = "\n".join(f'    "{key}": {formula},' for key, (_, formula) in FORMULAS.items())
    made = f"n = len(tokens)\n{_needs(list(FORMULAS))}\nmetrics = {{  # [layers, heads] each\n{rows}\n}}"
    show = "for name, values in metrics.items():\n    print(name, values)"
    return script(view.question, *with_attention(Names.of(subject), subject), made, show)


def rollout(view: Any, subject: Subject) -> str:
    """Attention rollout up to a layer, and the sources of the chosen token after each layer."""
    return script(
        view.question,
        *with_attention(Names.of(subject), subject),
        f"""
        token, up_to = {subject.token}, {min(view.up_to, subject.model.capabilities.layers)}
        flow, flows = torch.eye(len(tokens), dtype=torch.float64), []
        for weights in attention.double():  # Abnar & Zuidema 2020: half attention, half the residual connection
            flow = (weights.mean(0) + torch.eye(len(tokens))) / 2 @ flow
            flows.append(flow)
        matrix = flows[up_to - 1]  # [query, input token]
        sources = torch.stack([flow[token] for flow in flows])  # [layers, input token]
        for name, share in zip(tokens, matrix[token].tolist()):
            print(f"{{name}} {{share:.3f}}")
        """,
    )


def several(view: Any, subject: Subject) -> str:
    """The sum over some heads of a layer."""
    heads = list(view.heads) or list(range(1, subject.model.capabilities.heads + 1))
    return script(
        view.question,
        *with_attention(Names.of(subject), subject),
        f"""
        layer, heads = {min(view.layer, subject.model.capabilities.layers)}, {heads}
        weights = attention[layer - 1, [head - 1 for head in heads]].sum(0).numpy()  # [query, key]
        for token, share in zip(tokens, (weights.mean(0) / len(heads)).tolist()):
            print(f"{{token}} gets {{share:.1%}} of their weight")
        """,
        _top(view.mass),
    )


CODE = {
    "attention/heads": all_heads,
    "attention/head": one_head,
    "attention/metric": metric,
    "attention/metrics": metrics,
    "attention/rollout": rollout,
    "attention/several": several,
}
WITHOUT = {"attention/formulas": "It tells formulas and computes nothing."}
