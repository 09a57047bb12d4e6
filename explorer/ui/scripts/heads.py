import torch

from explorer.ui.scripts.asked import against, answer, foil, read
from explorer.ui.scripts.start import layers, model, outputs
from explorer.ui.scripts.without import off, run_without

changed = True


def measured(off):
    logits = read(run_without(off, outputs.hidden_states[0])[-1])[0]
    return logits.softmax(-1)[answer] if foil is None else logits[answer] - logits[against]


alone = [[measured({at: [head]}) for head in range(model.config.num_attention_heads)] for at in range(len(layers))]
effects = torch.tensor(alone)  # [layers, heads]: the same without each head
print(measured({}), effects)
if changed:
    after = read(run_without(off, outputs.hidden_states[0])[-1])[0].softmax(-1)
    print(after[answer])
