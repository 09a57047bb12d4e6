from explorer.side_by_side.scripts.sides import here, other_model, there
from explorer.ui.scripts.start import model

logits_here = model(**here).seq_relationship_logits[0]  # IsNext, NotNext
print("here", logits_here.softmax(-1), logits_here)
logits_there = other_model(**there).seq_relationship_logits[0]  # IsNext, NotNext
print("there", logits_there.softmax(-1), logits_there)
