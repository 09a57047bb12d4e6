import torch

from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.start import model, tokenizer

hidden_states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
logits = model.cls.predictions(hidden_states)  # each as if it were the last: nostalgebraist 2020
probabilities, ids = logits.softmax(-1).max(-1)  # [layers + 1, tokens]
final = logits[-1].argmax(-1)  # the model's own guesses
final_ranks = (logits > logits.gather(-1, final[None, :, None].expand(len(logits), -1, 1))).sum(-1) + 1
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))
