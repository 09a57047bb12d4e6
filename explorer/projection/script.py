"""Scripts of the Projection tab: the vectors of a map, and their principal components."""

from typing import Any

from explorer.projection.map import FILE, SENTENCES, VOCABULARY
from explorer.projection.points import SAMPLED_PIECES
from explorer.text.lines import read_lines
from explorer.ui.scripts.names import Names, with_hidden_states
from explorer.ui.scripts.script import script, written
from explorer.ui.subject import Subject

MOST_WRITTEN = 200  # texts of a file
PCA = """
        points = None
        for vectors in reversed(states):  # from the last layer down to the one that is shown
            centred = (vectors - vectors.mean(0)).astype(np.float64)
            _, _, directions = np.linalg.svd(centred, full_matrices=False)
            directions = directions[:{dimensions}]
            signs = np.sign(directions[range(len(directions)), np.abs(directions).argmax(1)])
            own = centred @ (directions * signs[:, None]).T  # principal components: Pearson 1901
            own /= np.sqrt((own**2).sum(1).mean())
            if points is not None:  # turned towards the map of the layer above: Schönemann 1966
                left, _, right = np.linalg.svd(own.T @ points)
                own = own @ left @ right
            points = own  # [texts, {dimensions}]
        for text, point in zip(texts, points):
            print(point.round(3), text)
"""
UMAP = """
        vectors = states[0]  # [texts, hidden]: what {name} draws
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit.T - 2 * np.eye(len(unit))
        nearest = cosines.argmax(1)  # in all dimensions; {how}
        for text, other in zip(texts, nearest):
            print(text, "–", texts[other])
"""
HOW = {
    "umap": "the map: umap.UMAP({neighbors}, min_dist={min_dist}, metric={metric!r}, random_state={seed})",
    "tsne": "the map: sklearn.manifold.TSNE(perplexity={neighbors} / 3, metric={metric!r}, random_state={seed})",
}


def chart(view: Any, subject: Subject) -> str:
    """The points of the map."""
    names = Names.of(subject)
    if view.source == VOCABULARY:
        table = f"{names.encoder}.{names.model.family.embeddings}.{names.model.family.word_embeddings}.weight"
        read = [
            names.opened(),
            f"""
            ids = np.random.default_rng({view.seed}).permutation(len(tokenizer))[:{SAMPLED_PIECES}].tolist()
            texts = tokenizer.convert_ids_to_tokens(ids)
            states = {table}[ids][None].numpy()  # before any layer
            """,
        ]
    elif view.source in (SENTENCES, FILE):
        if view.source == FILE and view.table is None:
            return ""
        texts, _ = read_lines(view.sentences) if view.source == SENTENCES else view._read_table()
        if len(texts) > MOST_WRITTEN:
            return ""
        read = [names.opened(), *_texts(view, names, texts)]
    else:
        layer = min(view.layer, subject.model.capabilities.layers)
        read = [*with_hidden_states(names, subject), f"texts, states = tokens, hidden_states[{layer}:].numpy()"]
    if view.method == "pca":
        return script(view.question, *read, PCA.format(dimensions=view.dimensions))
    settings = {name: getattr(view, name) for name in view.settings}
    named = {"umap": "UMAP", "tsne": "t-SNE"}[view.method]
    return script(view.question, *read, UMAP.format(name=named, how=HOW[view.method].format(**settings)))


def _texts(view: Any, names: Names, texts: list[str]) -> list[str]:
    layer = min(view.layer, names.model.capabilities.layers)
    if view.pooling == "pooler":
        pool = f"{names.pooled('states[-1]')}[0][None]"
    else:
        pool = f"torch.stack(states[{layer}:])[:, 0]" + ("[:, 0]" if view.pooling == "cls" else ".mean(1)")
    read = names.of_each_text("states_of", pool)
    stacked = "states = torch.stack(states_of, 1).numpy()  # [layers, texts, hidden]"
    return [written("texts", names.texts(*texts)), f"{read}\n{stacked}"]


CODE = {"projection/map": chart}
