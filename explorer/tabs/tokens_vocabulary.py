"""Tokens, second part: any piece of the vocabulary, and the pieces whose vectors are nearest to it."""

import gradio as gr

from explorer.analysis.vocabulary import nearest, search
from explorer.page.components import Column, Notice, Row, StripTable
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.attention_data import Part, default_token
from explorer.text import limits

MOST_FOUND = 200
NEAREST = 12
FOUND = [Column("piece", "name"), Column("id", "number")]
COLUMNS = [Column("nearest piece", "name"), Column("id", "number"), Column("cosine", "number"), Column("", "bar")]


def build(page: Page) -> Part:
    """Make the part."""
    gr.Markdown("### Every piece it knows", elem_classes="question")
    with gr.Row(elem_classes="overview-detail") as body:
        with gr.Column(scale=5, min_width=320):
            query = gr.Textbox(
                "play",
                label="Search the vocabulary: play, play*, *tion, ##ing, or an id",
                max_length=100,
                max_lines=1,
                elem_id="vocabulary-query",
            )
            found = Notice(elem_id="vocabulary-found")
            pieces = StripTable(height=320, elem_id="vocabulary-pieces")
        with gr.Column(scale=6, min_width=320):
            said = Notice(elem_id="nearest-said")
            table = StripTable(elem_id="nearest")
            gr.Markdown(
                "Nearest by cosine (−1 to 1) in the word embedding table, the vectors that the model starts from: alike "
                "in use or in spelling, and blind to context. Click a piece to go on from there.",
                elem_classes="caption",
            )

    def show_found(view: View, typed: str) -> Updates:
        if not typed.strip():
            size = view.model.capabilities.vocab_size
            return {found: f"{size:,} pieces; type to search them.", pieces: None}
        ids = search(view.model.vocabulary, typed[:100])
        few = f", the first {MOST_FOUND} are shown" if len(ids) > MOST_FOUND else ""
        counted = "1 piece matches" if len(ids) == 1 else f"{len(ids):,} pieces match"
        return {
            found: f"{counted}{few}." if ids else "No piece matches; try fewer letters.",
            pieces: StripTable.pack(
                FOUND, [Row([view.model.vocabulary[id], str(id)], token=id) for id in ids[:MOST_FOUND]], "pieces found"
            ),
        }

    def show_nearest(view: View, id: int) -> Updates:
        id = limits.check_integer(id, "the id", 0, view.model.capabilities.vocab_size - 1)
        near = nearest(view.model.word_table, id, NEAREST)
        rows = [
            Row([view.model.vocabulary[row], str(row), f"{cosine:.3f}", max(cosine, 0.0)], token=row)
            for row, cosine in near
        ]
        return {
            said: f"Nearest to '{view.model.vocabulary[id]}' (id {id}):",
            table: StripTable.pack(COLUMNS, rows, "nearest pieces"),
        }

    def show(view: View, typed: str) -> Updates:
        return {**show_found(view, typed), **show_nearest(view, view.trace.ids[default_token(view)])}

    page.on([query.change], show_found, [found, pieces], [query], **typed_in(query))
    page.on_pick([pieces.select, table.select], show_nearest, [said, table])
    return Part(body, show, [found, pieces, said, table], [query])
