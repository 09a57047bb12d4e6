"""Model: what it is made of."""

import gradio as gr

from explorer.figures.charts import parameter_bars
from explorer.page.components import PlotlyChart
from explorer.page.wiring import Page, Updates, View


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("model", "Model", "What is it made of?") as tab:
        summary = gr.Markdown(elem_classes="caption")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=6, min_width=320):
                bars = PlotlyChart(height=460, label="Parameters by part", elem_id="parameters")
            with gr.Column(scale=5, min_width=320):
                settings = gr.Dataframe(
                    headers=["setting", "value"],
                    datatype=["str", "str"],
                    interactive=False,
                    max_height=460,
                    label="Configuration (config.json)",
                    elem_id="configuration",
                )
        with gr.Accordion("Module tree, with the names that transformers gives the parts", open=False):
            tree = gr.Textbox(show_label=False, lines=20, max_lines=40, interactive=False, elem_id="module-tree")

    def show(view: View) -> Updates:
        counts = view.model.parameters_by_part()
        can = view.model.capabilities
        heads = [name for name, there in (("masked LM", can.fill_mask), ("next sentence", can.next_sentence)) if there]
        config = view.model.module.config.to_diff_dict() | {"max_position_embeddings": can.max_tokens}
        return {
            summary: (
                f"**{can.layers}** layers × **{can.heads}** heads × **{can.hidden_size}** dimensions, "
                f"**{can.parameters:,}** parameters; pre-training heads: {' and '.join(heads) or 'none'}. "
                "Shared weights are counted once: the masked-LM decoder is the word embedding table."
            ),
            bars: parameter_bars(counts),
            settings: [[key, str(value)] for key, value in sorted(config.items())],
            tree: str(view.model.module),
        }

    tab.shows(show, [summary, bars, settings, tree])
