from explorer.inside_head.scripts.layer_read import scaled, scores, value, weights
from explorer.ui.scripts.start import tokens

head, token = 1, 1
dots, scaled, weights = (part[0, head - 1, token] for part in (scores, scaled, weights))  # of this token for every key
output = weights @ value[0, head - 1]  # the head's output
for name, *row in zip(tokens, dots.tolist(), scaled.tolist(), weights.tolist()):
    print(name, *(f"{number:.3f}" for number in row))
