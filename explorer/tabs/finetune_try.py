"""Fine-tune: try the classifier on a sentence of one's own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.figures.training import word_effects
from explorer.page.components import Bars, Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, typed_in
from explorer.text import limits
from explorer.training.store import fetch

if TYPE_CHECKING:
    from explorer.techniques.attribution import Path

SENTENCES = [
    "Thank you so much, this is the best day of my life!",
    "I hate this phone, it is terrible and broke again.",
    "I love how happy and kind everyone was at the party.",
    "So sad and tired, this week has been awful.",
    "My flight to Oslo leaves at half past six.",
    "They moved the meeting to the small room.",
]
MOST_BARS = 6
HIDDEN, INTEGRATED = "hide each word", "integrated gradients"
REASONS = {HIDDEN: "occlusion", INTEGRATED: "integrated_gradients"}


@dataclass(eq=False)
class Attempt:
    """A text or a pair, what the classifier says of it, and the words that decided."""

    text: gr.Textbox
    text_b: gr.Textbox
    method: gr.Radio
    verdict: Bars
    words: PlotlyChart
    said: Notice

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What is classified, and how the words are weighed."""
        return [self.text, self.text_b, self.method]

    @property
    def outputs(self) -> list[Any]:
        """What `show` changes."""
        return [self.text_b, self.verdict, self.words, self.said]

    def show(self, run_id: str | None, text: str, text_b: str, method: str = HIDDEN) -> Updates:
        """The probabilities of the labels for this text, and how they depend on its words."""
        if not run_id or not limits.has_visible_characters(text or ""):
            return {self.verdict: None, self.words: None, self.said: ""}
        from explorer.model.explorer import load
        from explorer.training.reasons import decide

        run = fetch(run_id)
        pairs = run.held_out is not None and any(run.held_out.texts_b)
        limits.check_text(text)
        pair = (text, limits.check_optional_text(text_b, "the second sentence") if pairs else "")
        found = decide(run.classifier, load(run.classifier.model), pair, REASONS.get(method, method))
        labels = run.classifier.labels
        ranked = sorted(zip(labels, found.probabilities.tolist(), strict=True), key=lambda item: -item[1])
        shares = found.path is None
        words = word_effects(found.words, found.effects.tolist(), shares) if found.words else None
        return {
            self.text_b: gr.Textbox(visible=pairs),
            self.verdict: Bars.pack([(label, share, "") for label, share in ranked[:MOST_BARS]]),
            self.words: words,
            self.said: _explained(labels[found.best], found.path),
        }


def _explained(label: str, path: "Path | None") -> str | dict[str, str]:
    """What the bars of the words mean, with the check where there is one."""
    if path is None:
        return f"How much the probability of {label} falls when one word is hidden behind [MASK] (occlusion)."
    mark = "✓ their sum matches" if path.sums_up else "✗ their sum does not match"
    text = (
        f"What each word adds to the log-odds of {label}, from [PAD] everywhere to this text (integrated gradients, "
        f"{path.steps} steps). {mark} the model's change of {path.change:+.2f}, off by {abs(path.delta):.0e}."
    )
    return {"text": text, "kind": "info" if path.sums_up else "error"}


def build_attempt(page: Page, run_id: gr.State) -> Attempt:
    """Make and wire the components."""
    with gr.Row(equal_height=True):
        text = gr.Textbox(SENTENCES[0], label="Try it on a sentence", elem_id="try-it", scale=5)
        examples = gr.Dropdown(
            SENTENCES, value=None, label="or one of these", elem_id="try-examples", scale=2, min_width=120
        )
    text_b = gr.Textbox("", label="Second sentence", visible=False, elem_id="try-it-b")
    verdict = Bars(elem_id="try-it-verdict")
    method = gr.Radio(list(REASONS), value=HIDDEN, label="The words that decided", elem_id="reasons")
    words = PlotlyChart(height=170, label="The words that decided", elem_id="decided")
    said = Notice(elem_classes="caption", keep_height=True)
    made = Attempt(text, text_b, method, verdict, words, said)
    inputs = [run_id, *made.inputs]
    page.run([text.change, text_b.change], made.show, made.outputs, inputs, **typed_in(text, text_b))
    page.run([text.submit, text_b.submit, method.input], made.show, made.outputs, inputs)
    chosen = page.run([examples.input], lambda sentence: sentence, [text], [examples], queue=False)
    page.run(chosen.success, made.show, made.outputs, inputs)
    return made
