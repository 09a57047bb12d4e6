"""Model: its size, its parts, its configuration and its weights."""

from typing import Any

from explorer.model_card.weights import _most_uneven, _names
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject
from explorer.ui.view import View


def _opened(subject: Subject) -> str:
    """The model alone."""
    names = Names(subject.model, kind=_kind(subject))
    lines = [line for line in names.opened().splitlines() if not line.startswith("tokenizer")]
    return "\n".join(lines).replace("AutoTokenizer, ", "")


def _kind(subject: Subject) -> str:
    own = subject.model.own_head
    return type(own.module).__name__ if own else ""


def _counted(subject: Subject) -> str:
    """The model, and the names of the weights that its file lacks: they are not counted."""
    opened = _opened(subject)
    load = opened.splitlines()[-1].removesuffix(".requires_grad_(False)").replace("model = ", "model, info = ", 1)
    return "\n".join([*opened.splitlines()[:-1], f"{load[:-1]}, output_loading_info=True)"])


def summary(view: View, subject: Subject) -> str:
    """How large it is."""
    return script(
        view.question,
        _counted(subject),
        """
        config, there = model.config, [name for name, _ in model.named_parameters() if name not in info["missing_keys"]]
        layers, heads, hidden_size = config.num_hidden_layers, config.num_attention_heads, config.hidden_size
        parameters = sum(model.get_parameter(name).numel() for name in there)  # those that are shared are counted once
        print(f"{layers} layers × {heads} heads × {hidden_size} dimensions, {parameters:,} parameters")
        """,
    )


def parameters(view: View, subject: Subject) -> str:
    """How many parameters each part has."""
    family = subject.model.family
    path = f"{family.encoder}.{family.layers}".replace(".", r"\.")
    inside = rf"\.{family.shared_layers}\.\d+" if family.shared_layers else ""
    layer = "every layer" if family.shared_layers else "layer {int(found[1]) + 1}"
    return script(
        view.question,
        _counted(subject),
        f"""
        counts = {{}}
        for name, weight in model.named_parameters():  # those that are shared are counted once
            if name in info["missing_keys"]:
                continue
            found = re.match(r"{path}\\.(\\d+){inside}\\.(att|sa_)?", name)
            inside = name.removeprefix("{family.encoder}.").split(".")[:-1]
            part = " · ".join(inside[:1 if inside[0] == "{family.pooler}" else 2])
            if found:
                part = f"{layer} · {{'attention' if found[2] else 'feed-forward'}}"
            counts[part] = counts.get(part, 0) + weight.numel()
        for part, count in counts.items():
            print(f"{{count:>12,}} {{part}}")
        """,
    )


def configuration(view: View, subject: Subject) -> str:
    """What config.json says."""
    return script(
        view.question, _opened(subject), "for name, value in sorted(model.config.to_diff_dict().items()):\n    print(name, value)"
    )


def modules(view: View, subject: Subject) -> str:
    """The tree of modules."""
    return script(view.question, _opened(subject), "tree = str(model)\nprint(tree)")


def cost(view: View, subject: Subject) -> str:
    """Multiplications and memory."""
    names = Names.of(subject)
    width = subject.model.layers[0].attention_dense.in_features
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        f"""
        {names.layers}
        tokens = inputs["input_ids"].shape[1]
        matrices = sum(part.weight.numel() for layer in layers for part in layer.modules() if isinstance(part, torch.nn.Linear))
        multiplications = tokens * (matrices + 2 * len(layers) * {width} * tokens)  # in the matrices, in q·k and in weight · v
        print(f"{{multiplications / 1e9:.2f}} billion multiplications for {{tokens}} tokens, in the layers")
        """,
    )


def weights(view: Any, subject: Subject) -> str:
    """The size of every weight of every layer, and the numbers in one."""
    names, model = Names.of(subject), subject.model
    rows = _names(model)
    row, column = view.cell or next(iter(_most_uneven(model, rows)), (0, 0))
    row, column = min(row, len(rows) - 1), min(column, len(model.layer_weights) - 1)
    if rows[row] not in model.layer_weights[column]:
        return ""
    shared = "[:1]" if model.family.shared_layers else ""
    return script(
        view.question,
        "\n".join(line for line in names.opened().splitlines() if not line.startswith("tokenizer")).replace(
            "AutoTokenizer, ", ""
        ),
        names.layers,
        f"""
        weights = [dict(layer.named_parameters()) for layer in layers{shared}]
        sizes = {{name: [float(one[name].square().mean().sqrt()) for one in weights if name in one] for name in weights[-1]}}
        for name, row in sizes.items():  # root mean square, a number a layer
            print(name, row)
        weight = weights[{column}][{rows[row]!r}].numpy()
        mean, deviation = weight.mean(), weight.std()
        counts, edges = np.histogram(weight, 61, (mean - 5 * deviation, mean + 5 * deviation))
        print(mean, deviation, counts)
        """,
    )


CODE = {
    "model/summary": summary,
    "model/parameters": parameters,
    "model/configuration": configuration,
    "model/modules": modules,
    "model/cost": cost,
    "model/weights": weights,
}
WITHOUT = {
    "model/drawing": "It draws what the parameters by part count.",
    "model/encoder-decoder": "It draws an architecture and computes nothing.",
    "model/long-way": "It draws an architecture and computes nothing.",
    "model/origin": "It tells of files and computes nothing.",
    "model/on-paper": "Its numbers are those of papers.",
    "model/recipe": "Its numbers are those of papers.",
}
