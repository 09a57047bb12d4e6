"""How hidden states are called."""


def layer_name(layer: int) -> str:
    """A hidden state in words."""
    return "the embedding output" if layer == 0 else f"the output of layer {layer}"
