"""How alike sentences are: the first thing people try, and what to judge it by."""

import gradio as gr

from explorer.analysis.similarity import SPACES, closest_pairs, cosine_matrix, mean_of_pairs, moved_to
from explorer.base.errors import ExplorerError
from explorer.base.paths import EXAMPLES
from explorer.figures.hidden import sentences_heatmap
from explorer.page.components import Notice, PlotlyChart, Ranking
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.hidden_piece import Piece, layer_name
from explorer.text.limits import MAX_COMPARED, check_texts
from explorer.text.lines import read_lines

POOLED = [("mean of all tokens", "mean"), ("[CLS]", "cls"), ("pooler (last layer)", "pooler")]
EACH = 3  # sentences of a topic in the example


def build(page: Page) -> Piece:
    """Make the view."""
    with gr.Column(visible=False) as column:
        with gr.Row(elem_classes="controls"):
            pooling = gr.Dropdown(POOLED, value="mean", label="One vector for a sentence", elem_id="sentences-pooling")
            space = gr.Radio(list(SPACES), value=SPACES[0], label="Vectors", elem_id="sentences-space")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=7, min_width=320):
                matrix = PlotlyChart(height=520, label="Cosine between sentences", elem_id="sentences-matrix")
                said = gr.Markdown(elem_classes="caption")
            with gr.Column(scale=5, min_width=300):
                sentences = gr.Textbox(
                    _example(),
                    lines=12,
                    max_lines=12,
                    label=f"Up to {MAX_COMPARED} sentences, one a line",
                    elem_id="sentences",
                )
                problem = Notice()
                pairs = Ranking(elem_id="sentences-closest")

    controls = [pooling, space, sentences]
    drawn = [matrix, said, pairs, problem]

    def show(view: View, pooling: str, space: str, sentences: str) -> Updates:
        from explorer.model import reference  # loads torch
        from explorer.model.features import features

        at = view.model.capabilities.layers if pooling == "pooler" else view.selection.layer
        try:
            texts = check_texts(read_lines(sentences)[0], MAX_COMPARED)
            vectors = features(view.model, texts, at, pooling)
        except ExplorerError as error:
            return {problem: {"text": str(error), "kind": "error"}}
        cosines = cosine_matrix(moved_to(vectors, space))
        random = mean_of_pairs(cosine_matrix(reference.sentences(view.model, at, pooling)))
        rows = [
            (i, f"{i + 1} · {texts[i]}  –  {j + 1} · {texts[j]}", f"{value:.2f}")
            for i, j, value in closest_pairs(cosines)
        ]
        return {
            matrix: sentences_heatmap(cosines, texts),
            said: _said(space, at, random, len(texts)),
            pairs: Ranking.pack("The closest pairs, by cosine", rows) if rows else None,
            problem: "",
        }

    page.on([pooling.input, space.input], show, drawn, controls)
    page.on([sentences.change], show, drawn, controls, **typed_in(sentences))
    return Piece(column, controls, drawn, show, show)


def _said(space: str, at: int, random: float, number: int) -> str:
    text = (
        f"Cosine between the sentences' vectors in {layer_name(at)}; "
        "the colours end at the lowest and highest of two different ones. "
    )
    if space == SPACES[0]:
        return (
            text
            + f"Two unrelated sentences have **{random:.2f}** in common on average: only what lies above says something."
        )
    if space == SPACES[1]:
        return text + "Centred: the mean of these sentences is taken away, which most of them share; 0 is the average."
    return text + (
        f"Whitened: centred, then the {number // 2} strongest directions made equally long (Su et al. 2021); half as many as "
        "there are sentences, since with all of them every pair would come out equally alike."
    )


def _example() -> str:
    topics: dict[str, list[str]] = {}
    for line in (EXAMPLES / "topics.txt").read_text("utf-8").splitlines():
        text, _, topic = line.rpartition("|")
        topics.setdefault(topic.strip(), []).append(text.strip())
    return "\n".join(text for texts in topics.values() for text in texts[:EACH])
