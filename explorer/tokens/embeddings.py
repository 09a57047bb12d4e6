"""The vectors that are summed for each token's embedding."""

from typing import Any

import numpy as np

from explorer.analysis.similarity import cosines
from explorer.techniques.inside import EmbeddingParts, embedding_parts
from explorer.ui.layout import col, row
from explorer.ui.pictures.base import join_names
from explorer.ui.pictures.numbers import beside
from explorer.ui.pictures.strip_table import FIRST_NUMBERS, Column, Row, strip_table
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, check, heading, matches, part, prose


class Embeddings(View):
    name, question = "tokens/embeddings", "Which vectors are added up for each token?"
    layout = (row(col("sum", "check", "about_numbers", "numbers", width=2), col("norms", "help", width=3)),)
    sum = part("strips")
    check = check()
    about_numbers = heading(f"**The first {FIRST_NUMBERS} numbers** of the token's vectors")
    numbers = part("strips", classes="compact", height=165)
    norms = part("strips", classes="compact", height=440, sortable=True)
    help = prose(classes="caption")

    def finding(self, subject: Subject) -> Finding:
        """The summands of the selected token, and their lengths."""
        parts, token = embedding_parts(subject.trace), subject.token
        lengths = {name: float(np.linalg.norm(part[token])) for name, part in parts.added.items()}
        named = join_names([f"its {name} (length {length:.2f})" for name, length in lengths.items()])
        start = "a single vector" if len(lengths) == 1 else f"the sum of {len(lengths)} vectors"
        return Finding(f"“{subject.trace.tokens[token]}” starts as {start}: {named}.")

    def compute(self, subject: Subject) -> Content:
        parts = embedding_parts(subject.trace)
        return {
            "sum": _sum(subject, parts),
            "check": matches(parts.error, f"{_formula(parts)} is hidden state 0 for all tokens", 1e-5),
            "numbers": _first_numbers(subject, parts),
            "norms": _norms(subject, parts),
            "help": _help(subject, parts),
        }


def _formula(parts: EmbeddingParts) -> str:
    normed = f"LayerNorm({' + '.join(parts.added)})"
    return normed if parts.projected is None else f"W · {normed} + b"


def _help(subject: Subject, parts: EmbeddingParts) -> str:
    has = subject.model.capabilities
    said = [f"{_formula(parts)} is hidden state 0 (Devlin et al. 2019, figure 2)."]
    if not has.positions:
        said.append("The position has no vector: each layer turns queries and keys by their place instead.")
    if not has.segments and "segment" in parts.added:
        said.append("The segment is the same for every token: this model was trained without segments.")
    elif not has.segments:
        said.append("The segment has no vector: this model was trained without segments.")
    if parts.projected is not None:
        narrow, wide = parts.normed.shape[1], parts.projected.shape[1]
        said.append(f"The embeddings are {narrow} numbers wide, the layers {wide}: a matrix W maps the one to the other.")
    said.append(
        "Lengths are Euclidean and do not add up, since the vectors point in different directions. The cosine (−1 to 1) of the "
        "sum to each part shows how much of the sum points that way."
    )
    return " ".join(said)


def _sum(subject: Subject, parts: EmbeddingParts) -> dict[str, Any]:
    trace, token, encoding = subject.trace, subject.token, subject.trace.encoding
    segment, position, model = encoding.segments[token], encoding.positions[token], subject.model
    row_of = {"token": trace.ids[token], "position": position + model.first_position}
    row_of["segment"] = segment * model.capabilities.segments
    about = {"token": trace.tokens[token], "position": position, "segment": "AB"[segment]}
    columns = [
        Column(f"token {token}", "name", name="part"),
        Column("its vector", "strip", name="value"),
        Column("length", "number", form=".2f", name="norm"),
    ]
    strips = [
        *(
            (f"{'+ ' * (name != 'token')}{name}: {about[name]} (row {row_of[name]:,})", part)
            for name, part in parts.added.items()
        ),
        ("= sum", parts.total),
        ("LayerNorm", parts.normed),
        *([] if parts.projected is None else [("W · … + b", parts.projected)]),
        ("hidden state 0", trace.hidden_states[0]),
    ]
    rows = [
        Row([name, vectors[token], np.linalg.norm(vectors[token])], strong=name == "hidden state 0") for name, vectors in strips
    ]
    return beside(strip_table(columns, rows, "what is added up for one token"), position=token, token=trace.tokens[token])


def _first_numbers(subject: Subject, parts: EmbeddingParts) -> dict[str, Any]:
    """A table of the first numbers of each part, their sum and its LayerNorm, for one token."""
    vectors = {**parts.added, "= sum": parts.total, "LayerNorm": parts.normed}
    titles = [f"{'+ ' if 0 < place < len(parts.added) else ''}{name}" for place, name in enumerate(vectors)]
    columns = [Column("", "name", name="dimension")]
    columns += [Column(title, "number", form=".4f", name=title.strip("+= ").lower()) for title in titles]
    first = np.stack([vector[subject.token, :FIRST_NUMBERS] for vector in vectors.values()], axis=1)  # [FIRST_NUMBERS, columns]
    rows = [Row([str(place), *numbers]) for place, numbers in enumerate(first, start=1)]
    return strip_table(columns, rows, f"the first {len(rows)} numbers of what is added up for one token")


def _norms(subject: Subject, parts: EmbeddingParts) -> dict[str, Any]:
    measured = {**parts.added, "sum": parts.total, "LayerNorm": parts.normed}
    lengths = [np.linalg.norm(part, axis=-1) for part in measured.values()]
    shares = [cosines(parts.total, part) for part in parts.added.values()]
    numbers = np.stack([*lengths, *shares], axis=1)  # [tokens, 8 in BERT]
    columns = [Column("token", "name"), Column("#", "number", name="position")]
    columns += [Column(f"length of {name}", "number", form=".2f", name=f"norm_{name.lower()}") for name in measured]
    columns += [Column(f"sum to {name}, cosine", "number", form=".2f", name=f"cosine_{name}") for name in parts.added]
    rows = [Row([token, place, *row]) for place, (token, row) in enumerate(zip(subject.trace.tokens, numbers, strict=True))]
    return strip_table(columns, rows, "norms and cosines of what is added up")
