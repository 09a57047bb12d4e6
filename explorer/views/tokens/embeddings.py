"""The three vectors whose sum BERT reads for each token."""

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.similarity import cosines, norms
from explorer.figures.strip_table import Column, Row, strip_table
from explorer.views.subject import Subject
from explorer.views.view import Content, View, caption, check, heading, matches, part

if TYPE_CHECKING:
    from explorer.techniques.inside import EmbeddingParts

COLUMNS = [
    Column("token", "name"),
    *(Column(name, "number") for name in ("#", "‖token‖", "‖position‖", "‖segment‖", "‖sum‖", "‖LayerNorm‖")),
    *(Column(f"cos {part}", "number") for part in ("token", "position", "segment")),
]


class Embeddings(View):
    """What is added up for one token, as vectors, and for every token in numbers."""

    name, question = "tokens/embeddings", "What is added up for each token?"
    columns, widths = (("sum", "check"), ("norms", "help")), (5, 6)
    title = heading("### What is added up for each token", classes="question")
    sum = part("strips")
    check = check()
    norms = part("strips", height=320, sortable=True)
    help = caption(
        "token + position + segment → LayerNorm is hidden state 0 (Devlin et al. 2019, figure 2). ‖·‖ is the "
        "Euclidean length, cos the cosine (−1 to 1) between the sum and each part: how much of it points that way."
    )

    def compute(self, subject: Subject) -> Content:
        """Both tables, and whether the sum is what the model reads."""
        from explorer.techniques.inside import embedding_parts  # loads torch

        parts = embedding_parts(subject.trace)
        return {
            "sum": _sum(subject, parts),
            "check": matches(parts.error, "LayerNorm(token + position + segment) is hidden state 0 for all tokens", 1e-5),
            "norms": _norms(subject, parts),
        }


def _sum(subject: Subject, parts: "EmbeddingParts") -> dict[str, Any]:
    """The vectors that are added up for one token."""
    trace, token = subject.trace, subject.token
    columns = [Column(f"token {token}", "name"), Column("its vector", "strip"), Column("norm", "number")]
    strips = [
        (f"token: {trace.tokens[token]}", parts.token),
        (f"+ position: {token}", parts.position),
        (f"+ segment: {'AB'[trace.encoding.segments[token]]}", parts.segment),
        ("= sum", parts.total),
        ("LayerNorm", parts.normed),
        ("hidden state 0", trace.hidden_states[0]),
    ]
    rows = [
        Row([name, vectors[token], f"{np.linalg.norm(vectors[token]):.2f}"], strong=name == "hidden state 0")
        for name, vectors in strips
    ]
    return strip_table(columns, rows, "what is added up for one token")


def _norms(subject: Subject, parts: "EmbeddingParts") -> dict[str, Any]:
    """The norms of all parts of every token, and the cosines between the sum and each part."""
    lengths = [norms(part) for part in (parts.token, parts.position, parts.segment, parts.total, parts.normed)]
    shares = [cosines(parts.total, part) for part in (parts.token, parts.position, parts.segment)]
    numbers = np.stack([*lengths, *shares], axis=1)  # [tokens, 8]
    rows = [
        Row([token, str(place), *(f"{number:.3f}" for number in row)])
        for place, (token, row) in enumerate(zip(subject.trace.tokens, numbers, strict=True))
    ]
    return strip_table(COLUMNS, rows, "norms and cosines of what is added up")
