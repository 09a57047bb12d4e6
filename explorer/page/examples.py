"""The example inputs, and the box to choose one."""

from dataclasses import dataclass

import gradio as gr

from explorer.bert import checkpoints
from explorer.page.events import Inputs, Updates, Values, run
from explorer.text import limits
from explorer.ui.subject import Selection, Subject

EXAMPLES = {
    "A pair with a blank": ("The capital of Japan is [MASK].", "It is a city of temples and skyscrapers."),
    "One word, two senses: bank": ("She sat on the bank of the river.", "He put the money in the bank."),
    "Agreement across a phrase": ("The keys to the old cabinet [MASK] on the table.", ""),
    "Who is 'it'?": ("The dog did not cross the street because it was too tired.", ""),
    "Two unrelated sentences": ("We ran out of flour this morning.", "Saturn is the second largest planet."),
    "Pieces of rare words": ("The ornithologist mispronounced antidisestablishmentarianism again.", ""),
}
"""(text A, text B) by label; the page opens with the first."""
FIRST_A, FIRST_B = next(iter(EXAMPLES.values()))


def first_subject() -> Subject:
    return Subject(checkpoints.default_name(), FIRST_A, FIRST_B)


@dataclass(frozen=True, eq=False)
class ExampleBox:
    box: gr.Dropdown
    another: gr.Button

    @classmethod
    def build(cls) -> "ExampleBox":
        labels = [(label, index) for index, label in enumerate(EXAMPLES)]
        box = gr.Dropdown(labels, value=0, label="Examples", elem_id="examples", min_width=160)
        return cls(box, gr.Button("›", elem_id="next-example", size="sm", min_width=28))

    def listen(self, inputs: Inputs) -> list[gr.events.Dependency]:
        """Put a chosen example's texts into the page and clear the selection. Returns the events after which to redraw."""

        def show(chosen: int) -> Updates:
            text_a, text_b = list(EXAMPLES.values())[chosen]
            return {inputs.text_a: text_a, inputs.text_b: text_b, inputs.selection: Selection(), self.box: chosen}

        def choose(values: Values) -> Updates:
            return show(limits.check_integer(values[self.box], "the example", 0, len(EXAMPLES) - 1))

        def go_on(values: Values) -> Updates:
            shown = number_of(values[inputs.text_a], values[inputs.text_b])
            return show(0 if shown is None else (shown + 1) % len(EXAMPLES))

        outputs = [inputs.text_a, inputs.text_b, inputs.selection, self.box]
        return [
            run([self.box.input], choose, outputs, [self.box], queue=False),
            run([self.another.click], go_on, outputs, [inputs.text_a, inputs.text_b], queue=False),
        ]


def number_of(text_a: str, text_b: str) -> int | None:
    return next((number for number, texts in enumerate(EXAMPLES.values()) if texts == (text_a, text_b)), None)
