"""Hidden states, mapped by the tuned lens if that is chosen."""

import torch
from safetensors.torch import load_file

from explorer.ui.scripts.start import hidden_states, shipped

is_tuned = False
if is_tuned:
    lens = load_file(shipped("assets/lens/tuned.safetensors"))  # fitted for these weights: Belrose et al. 2023
    weight, bias = lens["weight"].float(), lens["bias"].float()  # [layers, hidden, hidden] and [layers, hidden]
    below = hidden_states[:-1] + hidden_states[:-1] @ weight.mT + bias[:, None]  # h + W h + b; the last state as it is
    hidden_states = torch.cat([below, hidden_states[-1:]])
