"""Tokens: the input as BERT reads it, what is added up for each token, and the vocabulary it is written in."""

from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from explorer.analysis.similarity import norms, row_cosines
from explorer.page.components import Column, Notice, Row, StripTable, TokenRow
from explorer.page.wiring import Page, Updates, View
from explorer.tabs import tokens_vocabulary
from explorer.tabs.attention_data import default_token, told, verdict

if TYPE_CHECKING:
    from explorer.techniques.inside import EmbeddingParts

MOST_SPELLED = 6
SUMMED = [
    Column("token", "name"),
    *(Column(name, "number") for name in ("#", "‖token‖", "‖position‖", "‖segment‖", "‖sum‖", "‖LayerNorm‖")),
    *(Column(f"cos {part}", "number") for part in ("token", "position", "segment")),
]


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("tokens", "Tokens", "What does BERT read?") as tab:
        cards = TokenRow(detail=True, elem_id="token-cards")
        counted = Notice(elem_id="counted")
        gr.Markdown(
            "BERT reads pieces, not words: `##` continues the word before it, and `[UNK]` stands for what the vocabulary "
            "cannot spell. **id** is the number of the piece in the vocabulary, **segment** 0 for A and 1 for B, "
            "**position** the place in the input, and **mask** is 1 where BERT may look. Point at a piece to see the "
            "characters and the word it came from.",
            elem_classes="caption",
        )
        gr.Markdown("### What is added up for each token", elem_classes="question")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=5, min_width=320):
                one = StripTable(elem_id="embedding-parts")
                check = Notice(elem_classes="check", elem_id="embedding-check")
            with gr.Column(scale=6, min_width=320):
                table = StripTable(height=320, sortable=True, elem_id="embedding-norms")
                gr.Markdown(
                    "token + position + segment → LayerNorm is hidden state 0 (Devlin et al. 2019, figure 2). ‖·‖ is the "
                    "Euclidean length, cos the cosine (−1 to 1) between the sum and each part: how much of it points that way.",
                    elem_classes="caption",
                )
        vocabulary = tokens_vocabulary.build(page)

    def show(view: View, *typed: str) -> Updates:
        from explorer.techniques.inside import embedding_parts  # loads torch

        parts = embedding_parts(view.trace)
        token = default_token(view)
        return {
            cards: view.chip_row(detail=True),
            counted: _counted(view),
            one: _one_token(view, parts, token),
            check: verdict(
                parts.error < 1e-5,
                f"LayerNorm(token + position + segment) is hidden state 0 for all tokens ({told(parts.error)})",
            ),
            table: _sums(view, parts),
            **vocabulary.show(view, *typed),
        }

    tab.shows(show, [cards, counted, one, check, table, *vocabulary.outputs], vocabulary.controls)
    page.picked_rows.append(cards)
    page.masked_rows.append(cards)


def _one_token(view: View, parts: "EmbeddingParts", token: int) -> dict[str, Any]:
    """The vectors that are added up for one token."""
    columns = [Column(f"token {token}", "name"), Column("its vector", "strip"), Column("norm", "number")]
    strips = [
        (f"token: {view.trace.tokens[token]}", parts.token),
        (f"+ position: {token}", parts.position),
        (f"+ segment: {'AB'[view.trace.segments[token]]}", parts.segment),
        ("= sum", parts.total),
        ("LayerNorm", parts.normed),
        ("hidden state 0", view.trace.hidden_states[0]),
    ]
    rows = [
        Row([name, vectors[token], f"{np.linalg.norm(vectors[token]):.2f}"], strong=name == "hidden state 0")
        for name, vectors in strips
    ]
    return StripTable.pack(columns, rows, "what is added up for one token")


def _sums(view: View, parts: "EmbeddingParts") -> dict[str, Any]:
    """The norms of all parts of every token, and the cosines between the sum and each part."""
    lengths = [norms(part) for part in (parts.token, parts.position, parts.segment, parts.total, parts.normed)]
    cosines = [row_cosines(parts.total, part) for part in (parts.token, parts.position, parts.segment)]
    rows = [
        Row([token, str(place), *(f"{number:.3f}" for number in numbers)])
        for place, (token, numbers) in enumerate(
            zip(view.trace.tokens, np.stack([*lengths, *cosines], axis=1), strict=True)
        )
    ]
    return StripTable.pack(SUMMED, rows, "norms and cosines of what is added up")


def _counted(view: View) -> str:
    trace, encoding = view.trace, view.trace.encoding
    unknown = trace.ids.count(view.model.tokenizer.unk_token_id)
    words = encoding.text_words
    parts = [f"{trace.kept} tokens of a vocabulary of {view.model.capabilities.vocab_size:,}, for {len(words)} words"]
    if trace.total > trace.kept:
        parts = [f"{trace.kept} of {trace.total} tokens kept, for {len(words)} words: this model reads no more"]
    if unknown:
        parts.append(f"{unknown} unknown")
    cut = [encoding.spelling(group) for group in words if len(group) > 1]
    if cut:
        more = f" and {len(cut) - MOST_SPELLED} more" if len(cut) > MOST_SPELLED else ""
        parts.append(f"in several pieces: {', '.join(cut[:MOST_SPELLED])}{more}")
    return "; ".join(parts) + "."
