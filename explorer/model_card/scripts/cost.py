import torch

from explorer.ui.scripts.start import inputs, layers

width = 384  # of all heads together
tokens = inputs["input_ids"].shape[1]
matrices = sum(part.weight.numel() for layer in layers for part in layer.modules() if isinstance(part, torch.nn.Linear))
multiplications = tokens * (matrices + 2 * len(layers) * width * tokens)  # in the matrices, in q·k and in weight · v
print(f"{multiplications / 1e9:.2f} billion multiplications for {tokens} tokens, in the layers")
