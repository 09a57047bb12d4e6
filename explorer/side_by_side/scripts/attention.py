from explorer.side_by_side.scripts.sides import here, is_one, other_model, there
from explorer.ui.scripts.start import model

layer, head = 1, 1
other_layer, other_head, as_long = 1, 1, True
model.set_attn_implementation("eager")  # it returns its weights, which faster ones do not
if not is_one:
    other_model.set_attn_implementation("eager")
weights_here = model(**here, output_attentions=True).attentions[layer - 1][0, head - 1]
print("here", weights_here)
weights_there = other_model(**there, output_attentions=True).attentions[other_layer - 1][0, other_head - 1]
print("there", weights_there)
if as_long:
    difference = weights_there - weights_here  # [query, key]
    moved = difference.abs().sum(-1).mean() / 2  # 0: the same, 1: nothing in common
    print(moved)
