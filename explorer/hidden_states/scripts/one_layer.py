from explorer.ui.scripts.start import hidden_states

state, look = 1, "Similarity"
vectors = hidden_states[state]  # [tokens, hidden]; hidden state 0 is the embedding output
if look == "All dimensions":
    means = vectors.mean(0)
    apart = (means - means.mean()).abs()
    outliers = (apart > 3 * means.std(correction=0)).nonzero()[:, 0].tolist()
    print("outlier dimensions, from 0:", outliers, means[outliers])
else:
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    similarity = unit @ unit.T  # [tokens, tokens] cosines
    print(similarity)
