"""Hidden states: what each layer makes of the tokens, of one word in many contexts, and of sentences."""

from itertools import accumulate

import gradio as gr

from explorer.page.wiring import Page, Updates, View
from explorer.tabs import hidden_layers, hidden_sentences, hidden_word

VIEWS = {"Layer by layer": hidden_layers, "One word, many contexts": hidden_word, "Sentences": hidden_sentences}
FIRST = next(iter(VIEWS))


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("hidden", "Hidden states", "What becomes of the tokens, layer by layer?") as tab:
        with gr.Row(elem_classes="controls"):
            look = gr.Radio(list(VIEWS), value=FIRST, show_label=False, container=False, elem_id="hidden-view")
            layer = gr.Slider(0, 6, value=1, step=1, label="Hidden state (0: embeddings)", elem_id="layer")
        pieces = {name: module.build(page) for name, module in VIEWS.items()}

    controls = [look, *(control for piece in pieces.values() for control in piece.controls)]
    outputs = list(dict.fromkeys(item for piece in pieces.values() for item in piece.outputs))
    ends = list(accumulate(len(piece.controls) for piece in pieces.values()))

    def of_its_own(look: str, values: tuple[object, ...]) -> tuple[object, ...]:
        end = ends[list(pieces).index(look)]
        return values[end - len(pieces[look].controls) : end]

    def show(view: View, look: str, *values: object) -> Updates:
        slider = gr.Slider(maximum=view.model.capabilities.layers, value=view.selection.layer)
        return {layer: slider} | pieces[look].show(view, *of_its_own(look, values))

    def slide(view: View, chosen: int, look: str, *values: object) -> Updates:
        view = page.reselect(view, layer=int(chosen))
        return {page.selection: view.selection} | pieces[look].slide(view, *of_its_own(look, values))

    def switch(view: View, look: str, *values: object) -> Updates:
        shown = {piece.column: gr.Column(visible=name == look) for name, piece in pieces.items()}
        return shown | show(view, look, *values)

    tab.shows(show, [layer, *outputs], controls)
    page.on([layer.input], slide, [page.selection, *outputs], [layer, *controls])
    page.on_switch([look.input], switch, [layer, *(piece.column for piece in pieces.values()), *outputs], controls)
