import torch

from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.start import model, tokenizer
from explorer.ui.scripts.without import off

position = 6
word = "happy"
foil = None  # a word to compare it with
layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
answer, against = (one and tokenizer.convert_tokens_to_ids(one) for one in (word, foil))


def measured(*switched_off):  # the word's probability, or how far its logit is above the foil's
    off[:] = switched_off
    logits = model.cls.predictions(model.bert(**inputs).last_hidden_state[0, position])
    return logits[answer] - logits[against] if foil else logits.softmax(-1)[answer]


alone = [[measured((layer, head)) for head in range(1, heads + 1)] for layer in range(1, layers + 1)]
effects = torch.tensor(alone)  # [layers, heads]: without each head
print("with all heads", measured(), "without each", effects)
