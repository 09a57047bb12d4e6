from explorer.ui.scripts.inputs import inputs
from explorer.ui.scripts.start import model

logits = model(**inputs).seq_relationship_logits[0]  # IsNext, NotNext
probabilities = logits.softmax(-1)
print("IsNext {:.2%}, NotNext {:.2%}".format(*probabilities.tolist()), logits)
