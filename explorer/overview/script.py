"""The script of the Overview tab: the routes by which information reaches a position."""

from explorer.overview.routes import Routes
from explorer.overview.run import opens_on, selected_run
from explorer.ui.scripts.answers import off_and_cut, what_if
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject

MIXED = """
# How each layer mixes tokens, [query, key]: Ferrando et al. 2022. `off`: heads, or weights (head, query, key), that are zero.
def mixed(hidden, off):"""


def routes(view: Routes, subject: Subject) -> str:
    """The token mixing of every layer, with all changes to the run, and the strongest routes to the chosen position."""
    names, chosen = Names.of(subject), subject.selection
    layers = names.model.capabilities.layers
    state = layers if view.state < 0 else min(view.state, layers)
    position = opens_on(subject, selected_run(subject).mixed.shares)
    texts, patch = names.encoded(subject.text_a, subject.text_b), ""
    if chosen.patch and chosen.patch[0] < layers:  # patching the last hidden state changes no route
        layer, token = chosen.patch
        texts += f"\nbefore = {names.at}(**inputs, output_hidden_states=True).hidden_states[{layer}][0, {token}]"
        patch = f"""
        if number == {layer}:  # one vector of the run before
            hidden[0, {token}] = before"""
    if chosen.swap:
        swapped = names.encoded(subject.swapped.text_a, subject.swapped.text_b)
        texts = f"{texts}\n{swapped}" if patch else swapped
    return script(
        view.question,
        names.opened(),
        texts,
        f"embedded = {names.at}(**inputs, output_hidden_states=True).hidden_states[0]",
        names.layers,
        names.running,
        f"""{names.attending(MIXED, "seen[:] = weights[0], value[0]")}
    seen = []
    for number, layer in enumerate(layers):{patch}
        following = {names.run("layer", "hidden")}
        {_parts(names)}
        nearer = (own.abs()[:, None] - (own[:, None] - parts).abs()).sum(-1).clamp(min=0)
        yield nearer / nearer.sum(-1, keepdim=True)
        hidden = following""",
        f"""
        mixing = list(mixed(embedded, {off_and_cut(chosen)}))
        position, state = {position}, {state}  # the place whose routes are followed backwards: Ferrando and Voita 2024
        places, found = torch.zeros(state + 1, embedded.shape[1]), []  # how much of it stands where
        places[state, position] = 1
        for number in reversed(range(state)):
            steps = places[number + 1, :, None] * mixing[number]
            places[number] = steps.sum(0)
            found += [(float(steps[at]), number + 1, *at) for at in np.ndindex(*steps.shape) if at[0] != at[1]]
        tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        for share, number, query, key in sorted(found, reverse=True)[:10]:
            print(f"layer {{number}}: {{tokens[query]}} takes from {{tokens[key]}} ({{share:.1%}} of the place)")
        """,
    )


def _parts(names: Names) -> str:
    """Lines of the loop: `own`, the vectors after the attention block, and the `parts` that each token adds to them."""
    family, layer = names.model.family, names.model.layers[0]
    narrow, *_ = family.bottleneck.split(".")
    itself = f"layer.{family.bottleneck}(hidden)" if narrow and hasattr(layer.module, narrow) else "hidden"
    bias = "" if layer.attention_dense.bias is None else f" + {names.mixing}.bias"
    lines = [
        f"(weights, value), output = seen, {names.mixing}.weight.T.unflatten(0, ({names.model.capabilities.heads}, -1))",
        'parts = torch.einsum("hqk,hkd,hdo->qko", weights, value, output)  # what each token takes from each',
        f"parts.diagonal().add_({itself}[0].T)  # and keeps of itself",
        f"own = parts.sum(1){bias}",
    ]
    if layer.attention_norm is not None:
        lines.append(f"norm = layer.{family.attention_norm}")
        if hasattr(layer.attention_norm, "eps"):
            lines.append("parts = (parts - parts.mean(-1, keepdim=True)) * norm.weight  # the norm but for its deviation")
            lines.append("own = norm(own) * (own.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()")
        else:
            lines.append("parts, own = parts * norm.weight, norm(own)")
    return "\n        ".join(lines)


CODE = {"overview/routes": routes, "overview/what-if": what_if}
WITHOUT = {
    "overview/trust": "It hides each word, as the Python of an answer's attribution does, and compares that with the routes."
}
