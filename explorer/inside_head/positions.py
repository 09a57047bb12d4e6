"""Position vectors: how the model knows the position of a token."""

import numpy as np

from explorer.analysis.similarity import cosine_matrix, cosines
from explorer.inside_head.compute import sinusoids
from explorer.inside_head.pictures import position_similarity, position_vectors
from explorer.ui.layout import col, row
from explorer.ui.subject import Subject
from explorer.ui.telling import stands_out, two_places
from explorer.ui.view import Content, Finding, View, chart, heading, prose

MOST_POSITIONS = 128
FAR = 32  # positions


class Positions(View):
    """The learned vectors of all positions beside the sinusoids of the first Transformer."""

    name, question = "inside-head/positions", "How does the model know the order of the tokens?"
    layout = (row(col("learned_title", "learned_alike", "learned"), col("waves_title", "waves_alike", "waves")),)
    learned_title = heading("**Learned** by this model: similarity of every two positions")
    learned = chart("Learned position vectors", height=300)
    learned_alike = chart("Cosine between learned positions", height=360)
    waves_title = heading("**Sinusoids**, fixed waves instead (Vaswani et al. 2017)")
    waves = chart("Sinusoidal position vectors", height=300)
    waves_alike = chart("Cosine between sinusoids", height=360)
    about = prose(classes="caption")

    def unless(self, subject: Subject) -> str:
        return subject.model.why_not("positions")

    def finding(self, subject: Subject) -> Finding | None:
        table = subject.model.position_table
        if len(table) <= FAR:
            return None
        near, far = (float(cosines(table[:-apart], table[apart:]).mean()) for apart in (1, FAR))
        if not stands_out(near - far):
            differ = f"their mean cosines differ by {two_places(abs(near - far))}"
            return Finding(f"Neighbouring positions are hardly more similar than positions {FAR} apart: {differ}.")
        apart = f"those {FAR} positions apart less so ({two_places(far)})"
        return Finding(f"The learned vectors of neighbouring positions are similar (mean cosine {near:.2f}), {apart}.")

    def compute(self, subject: Subject) -> Content:
        table = subject.model.position_table  # [positions, hidden]
        step = -(-len(table) // MOST_POSITIONS)
        positions = np.arange(0, len(table), step)
        learned, waves = table[positions], sinusoids(*table.shape)[positions]
        every = "" if step == 1 else f" Every {step}th position is drawn."
        return {
            "about": (
                "Attention alone does not know word order, so a vector for its place is added to every token. Top: the "
                f"cosine between every two of the {len(table)} vectors (−1 to 1); a strong diagonal means that neighbours are "
                f"similar. Bottom: the vectors, {table.shape[1]} numbers each (blue above 0, orange below).{every} "
                "Sinusoids have no weights: dimension 2i of position p is sin(p ÷ 10,000^(2i ÷ d)), dimension 2i + 1 its cosine."
            ),
            "learned": position_vectors(learned, positions, "learned"),
            "learned_alike": position_similarity(cosine_matrix(learned), positions, "learned-alike"),
            "waves": position_vectors(waves, positions, "waves"),
            "waves_alike": position_similarity(cosine_matrix(waves), positions, "waves-alike"),
        }
