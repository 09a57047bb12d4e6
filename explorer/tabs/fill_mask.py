"""Fill-mask: what BERT would put in a blank, when it came to believe so, and which parts did it."""

from typing import TYPE_CHECKING

import gradio as gr

from explorer.page.components import Notice, TokenRow
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs import (
    attribution_view,
    fill_mask_game,
    fill_mask_guesses,
    fill_mask_lens,
    fill_mask_patching,
    fill_mask_positions,
    fill_mask_quiz,
    head_board,
)
from explorer.tabs.parts import Part, asked_blank, no_blank, one_at_a_time

if TYPE_CHECKING:
    import torch

    from explorer.techniques.targets import Target

GUESSES_SHOWN = 5


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("fill-mask", "Fill-mask", "What belongs in the blank?", needs="fill_mask") as tab:
        gr.Markdown(
            "Click a word to hide it, click the blank to bring it back, or type `[MASK]` above.", elem_classes="caption"
        )
        row = TokenRow(mask_on_click=True, elem_id="mask-row")
        which = gr.Radio(["Guesses"], value="Guesses", show_label=False, container=False, elem_id="fill-mask-view")
        hint = Notice(elem_id="fill-mask-hint")
        with gr.Column(visible=False) as word_column:
            word = gr.Textbox(
                "", label="The word in question", placeholder="BERT's first guess", elem_id="word", max_lines=1
            )
        parts = [
            fill_mask_guesses.build(page),
            fill_mask_positions.build(page),
            fill_mask_lens.build(page),
            _heads(page, word),
            _attribution(page, word),
            fill_mask_patching.build(page, word),
            fill_mask_game.build(page),
            fill_mask_quiz.build(page),
        ]

    asking = {part.label: part for part in parts if word in part.controls}

    def always(view: View, chosen: str) -> Updates:
        return {row: view.chip_row(), word_column: gr.Column(visible=chosen in asking)}

    show = one_at_a_time(page, tab, which, hint, parts, always, [row, word_column])
    page.on([word.change], show, tab.outputs, tab.controls, **typed_in(word))
    page.masked_rows.append(row)


def _target(view: View, word: str) -> "Target":
    from explorer.techniques.targets import word_target

    return word_target(view.trace, word, asked_blank(view))


def _answer(view: View, target: "Target", states: "torch.Tensor") -> list[tuple[str, float, str]]:
    """The best guesses in the blank, and the word in question if it is not among them."""
    from explorer.techniques.targets import read

    (guess,) = view.model.guesses(states[[target.position]], [target.position], GUESSES_SHOWN)
    rows = [(candidate.token, candidate.probability, "") for candidate in guess.candidates]
    if target.id not in [candidate.id for candidate in guess.candidates]:
        rows.append((target.token, float(read(view.model, target, states[None]).probability), "the word in question"))
    return rows


def _heads(page: Page, word: gr.Textbox) -> Part:
    with gr.Column(visible=False) as column:
        return head_board.build(
            page,
            "Switch heads off",
            "the word",
            _target,
            _answer,
            word=word,
            column=column,
            prefix="word",
            unless=no_blank,
        )


def _attribution(page: Page, word: gr.Textbox) -> Part:
    with gr.Column(visible=False) as column:
        return attribution_view.build(
            page, "Attribution", _target, word=word, column=column, prefix="word", unless=no_blank
        )
