import torch
from safetensors.torch import load_file

from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.shipped import shipped
from explorer.ui.scripts.start import model, tokenizer

lens = load_file(shipped("assets/lens/tuned.safetensors"))  # fitted for these weights: Belrose et al. 2023
weight, bias = lens["weight"].float(), lens["bias"].float()  # [layers, hidden, hidden] and [layers, hidden]
states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
below = states[:-1] + states[:-1] @ weight.mT + bias[:, None]  # h + W h + b; the last state as it is
logits = model.cls.predictions(torch.cat([below, states[-1:]]))  # [layers + 1, tokens, vocabulary]
probabilities, ids = logits.softmax(-1).max(-1)  # [layers + 1, tokens]
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))
