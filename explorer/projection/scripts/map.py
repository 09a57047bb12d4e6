import numpy as np
import torch

from explorer.ui.scripts.start import inputs, model, tokenizer, tokens

source, pooling, layer, method, dimensions = "Words of the input", "mean", 6, "pca", 2
neighbors, min_dist, metric, seed, most = 15, 0.1, "cosine", 0, 1500
typed = ["The cat sat.", "A cat was sitting.", "The stock fell."]
if source == "Vocabulary":
    ids = np.random.default_rng(seed).permutation(len(tokenizer))[:most].tolist()
    texts = tokenizer.convert_ids_to_tokens(ids)
    states = model.bert.embeddings.word_embeddings.weight[ids][None].numpy()  # before any layer
elif source == "Words of the input":
    outputs = model(**inputs, output_hidden_states=True)
    texts, states = tokens, torch.stack(outputs.hidden_states)[layer:, 0].numpy()  # [layers, texts, hidden]
else:
    texts, states = typed, []
    for text in texts:
        encoded = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
        read = model(**encoded, output_hidden_states=True).hidden_states
        if pooling == "pooler":
            states.append(model.bert.pooler(read[-1])[0][None])
        elif pooling == "cls":
            states.append(torch.stack(read[layer:])[:, 0, 0])
        else:
            states.append(torch.stack(read[layer:])[:, 0].mean(1))
    states = torch.stack(states, 1).numpy()  # [layers, texts, hidden]
if method == "pca":
    points = None
    for vectors in reversed(states):  # from the last layer down to the one that is shown
        centred = (vectors - vectors.mean(0)).astype(np.float64)
        _, _, directions = np.linalg.svd(centred, full_matrices=False)
        directions = directions[:dimensions]
        signs = np.sign(directions[range(len(directions)), np.abs(directions).argmax(1)])
        own = centred @ (directions * signs[:, None]).T  # principal components: Pearson 1901
        own /= np.sqrt((own**2).sum(1).mean())
        if points is not None:  # turned towards the map of the layer above: Schönemann 1966
            left, _, right = np.linalg.svd(own.T @ points)
            own = own @ left @ right
        points = own  # [texts, dimensions]
    for text, point in zip(texts, points):
        print(point.round(3), text)
else:
    vectors = states[0]  # [texts, hidden]: what is drawn
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T - 2 * np.eye(len(unit))
    nearest = cosines.argmax(1)  # in all dimensions
    if method == "umap":
        settings = {"n_neighbors": neighbors, "min_dist": min_dist, "metric": metric, "random_state": seed}  # of umap.UMAP
    else:
        settings = {"perplexity": neighbors / 3, "metric": metric, "random_state": seed}  # of sklearn.manifold.TSNE
    print("the map is drawn with", settings)
    for text, other in zip(texts, nearest):
        print(text, "–", texts[other])
