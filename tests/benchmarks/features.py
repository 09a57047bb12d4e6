"""Features of 2,000 short texts, and the first picture of them, beside the plain way."""

from collections.abc import Iterator, Sequence

import numpy as np

from tests.benchmarks import Comparison, side_by_side
from tests.benchmarks.texts import labelled_texts

NUMBER = 2_000
PLAIN_BATCH = 32


def run() -> Iterator[Comparison]:
    """Compare our features with those of a plain loop: batches of 32 in file order, float32, padded."""
    import explorer
    from explorer.bert.features import features, forget

    model, given = explorer.load(), labelled_texts(NUMBER).texts
    found = {}

    def ours() -> None:
        forget()
        found["ours"] = features(model, given)

    def theirs() -> None:
        found["theirs"] = plain(model, given)

    seconds = side_by_side(ours, theirs, rounds=3)
    yield Comparison("features", f"{NUMBER:,} texts", "plain loop", *seconds, "s", "ratio at most 0.4")
    lowest = float(cosines(found["ours"], found["theirs"]).min())
    yield Comparison("features-cosine", "lowest cosine to float32", "the limit", lowest, 0.999, "", "ratio at least 1")


def run_projection() -> Iterator[Comparison]:
    """Compare the Projection tab's first picture, features included, with the features alone."""
    import explorer
    from explorer.analysis.projection import project
    from explorer.bert.features import features, forget
    from explorer.projection.map import FILE, Map
    from explorer.text.tables import Table
    from explorer.ui.subject import Subject

    model, given = explorer.load(), labelled_texts(NUMBER).texts
    project(np.eye(5, dtype=np.float32))  # imports scikit-learn, once a process
    view = Map(source=FILE, table=Table(("text",), tuple((text,) for text in given), ""))

    def ours() -> None:
        forget()
        view.compute(Subject(model.name, "A", ""))["chart"].to_json()

    def theirs() -> None:
        forget()
        features(model, given)

    seconds = side_by_side(ours, theirs)
    yield Comparison("projection", "first picture (PCA)", "features alone", *seconds, "s", "ratio at most 1.1")


def plain(model: object, given: Sequence[str]) -> np.ndarray:
    """What one writes first: transformers itself, batch by batch as the texts come."""
    import torch

    vectors = []
    for start in range(0, len(given), PLAIN_BATCH):
        batch = given[start : start + PLAIN_BATCH]
        encoded = model.tokenizer(batch, padding=True, truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            hidden = model.encoder(**encoded).last_hidden_state
        mask = encoded["attention_mask"][..., None]
        vectors.append(((hidden * mask).sum(1) / mask.sum(1)).numpy())
    return np.concatenate(vectors)


def cosines(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Row by row."""
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(others, axis=1)
    return (vectors * others).sum(axis=1) / lengths
