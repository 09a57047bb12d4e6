import numpy as np
import torch

from explorer.ui.scripts.start import model, tokenizer

texts = ["The cat sat.", "A cat was sitting.", "The stock fell."]
pooling, state, space = "mean", 6, "as they are"
vectors = []
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
    states = model(**inputs, output_hidden_states=True).hidden_states
    if pooling == "cls":
        vectors.append(states[state][0, 0])
    elif pooling == "mean":
        vectors.append(states[state][0].mean(0))
    else:
        vectors.append(model.bert.pooler(states[-1])[0])
vectors = torch.stack(vectors)  # [texts, hidden]
if space == "centred":
    vectors = vectors - vectors.mean(0)
elif space == "whitened":
    vectors = (vectors - vectors.mean(0)).numpy()  # whitened: Su et al. 2021
    left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    kept = min(len(vectors) // 2, (sizes > 1e-5 * sizes.max()).sum())
    vectors = torch.tensor(left[:, :kept])
unit = vectors / vectors.norm(dim=1, keepdim=True)
similarity = unit @ unit.T  # [texts, texts] cosines
print(similarity)
