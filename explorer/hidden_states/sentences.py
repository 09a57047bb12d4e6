"""The similarity of sentences, with a baseline to judge it by."""

import numpy as np

from explorer.analysis.similarity import SPACES, closest_pairs, cosine_matrix, mean_of_pairs, move_to
from explorer.bert.features import features
from explorer.core.errors import ExplorerError
from explorer.core.limits import COMPARED
from explorer.core.paths import EXAMPLES
from explorer.hidden_states.compute import unrelated_texts
from explorer.hidden_states.layers import layer_name
from explorer.text.limits import check_texts
from explorer.text.lines import read_lines
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import ranking
from explorer.ui.pictures.hidden import sentences_heatmap
from explorer.ui.settings import choice, pooling, text
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, chart, part, prose, sentence

TOPICS = (EXAMPLES / "topics.txt").read_text("utf-8").splitlines()
EXAMPLE = "\n".join(line.rpartition("|")[0].strip() for line in TOPICS[::3])  # two or three of each topic


class Sentences(View):
    name, question = "hidden/sentences", "How similar are sentences?"
    layout = (row(col("matrix", "pooling", "space", "about", width=7), col("sentences", "problem", "closest", width=5)),)
    pooling: str = pooling(elem_classes="inline")
    space: str = choice(SPACES, "Vectors", menu=True, elem_classes="inline")
    matrix = chart("Cosine between sentences", height=520)
    about = prose(classes="caption")
    sentences: str = text(EXAMPLE, f"Sentences, one per line (≤ {COMPARED.most})", lines=12, max_lines=12)
    problem = sentence()
    closest = part("ranking", answer=True)

    def _read(self, subject: Subject) -> tuple[list[str], int, np.ndarray]:
        """The sentences, the index of the hidden state, and the cosines between their vectors. Raises ExplorerError."""
        at = subject.model.capabilities.layers if self.pooling == "pooler" else subject.selection.layer
        texts = check_texts(read_lines(self.sentences)[0], COMPARED)
        return texts, at, cosine_matrix(move_to(features(subject.model, texts, at, self.pooling), self.space))

    def finding(self, subject: Subject) -> Finding | None:
        texts, _, cosines = self._read(subject)
        closest = closest_pairs(cosines)
        if not closest:
            return None
        i, j, value = closest[0]
        if len(closest) > 1 and f"{closest[-1][2]:.2f}" == f"{value:.2f}":
            pairs = f"The {len(closest)} closest pairs of {len(texts)} sentences"
            return Finding(f"{pairs} are equally close: a cosine of {value:.2f}.")
        return Finding(f"Of {len(texts)} sentences, “{texts[i]}” and “{texts[j]}” are the most similar (cosine {value:.2f}).")

    def compute(self, subject: Subject) -> Content:
        """The matrix and its closest pairs; or an error, with the rest unchanged."""
        try:
            texts, at, cosines = self._read(subject)
        except ExplorerError as error:
            return {"problem": {"text": str(error), "kind": "error"}}
        random = mean_of_pairs(cosine_matrix(features(subject.model, unrelated_texts(), at, self.pooling)))
        rows = [(i, f"{i + 1} · {texts[i]}  –  {j + 1} · {texts[j]}", value) for i, j, value in closest_pairs(cosines)]
        return {
            "matrix": sentences_heatmap(cosines, texts),
            "about": self._about(at, random, len(texts)),
            "closest": ranking("The closest pairs, by cosine", rows, form=".2f") if rows else None,
            "problem": "",
        }

    def _about(self, at: int, random: float, number: int) -> str:
        lead = (
            f"Cosine between the sentences' vectors in {layer_name(at)}; "
            "the colours end at the lowest and highest of two different ones. "
        )
        baseline = f"Two unrelated sentences have a cosine of **{random:.2f}** on average, so read each value relative to that."
        centred = "Centred: the mean of these sentences, which most of them share, is subtracted; 0 is the average."
        whitened = (
            f"Whitened: centred, then the {number // 2} strongest directions scaled to equal variance (Su et al. 2021). That "
            f"is half the number of sentences: with all directions every pair would be equally similar."
        )
        return lead + dict(zip(SPACES, (baseline, centred, whitened), strict=True))[self.space]
