"""Next sentence: does B follow A, which way round, and what speaks for it?"""

from typing import TYPE_CHECKING

import gradio as gr

from explorer.page.components import Bars, Notice
from explorer.page.wiring import Page, Updates, View
from explorer.tabs import attribution_view, head_board, next_sentence_pairs
from explorer.tabs.parts import Part, check_line, one_at_a_time

if TYPE_CHECKING:
    import torch

    from explorer.model.explorer import NextSentence
    from explorer.techniques.targets import Target

SATURATED = 0.999
NO_B = "Type a second sentence in B to ask whether it follows A."


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("next-sentence", "Next sentence", "Does B follow A?", needs="next_sentence") as tab:
        which = gr.Radio(["This pair"], value="This pair", show_label=False, container=False, elem_id="nsp-view")
        hint = Notice(elem_id="nsp-hint")
        nothing = gr.State("")
        parts = [
            _pair(),
            next_sentence_pairs.build_table(page),
            next_sentence_pairs.build_ranking(page),
            _attribution(page, nothing),
            _heads(page, nothing),
        ]
        gr.Markdown(
            "BERT was trained with strangers from other documents, so that it judges the topic more than the logic. "
            "RoBERTa (Liu et al. 2019) dropped this task: without it, and with longer runs of text, it did as well or "
            "better; ALBERT (Lan et al. 2020) asks instead which of two neighbours came first.",
            elem_classes="caption",
        )
    one_at_a_time(page, tab, which, hint, parts)


def _pair() -> Part:
    with gr.Column(visible=True) as column, gr.Row(elem_classes="overview-detail"):
        with gr.Column(scale=1, min_width=320):
            gr.Markdown("**B after A**", elem_classes="detail-title")
            verdict = Bars(elem_id="verdict")
            logits = Notice(elem_id="logits")
            saturated = Notice()
            check = Notice(elem_classes="check")
        with gr.Column(scale=1, min_width=320):
            gr.Markdown("**Swapped: A after B**", elem_classes="detail-title")
            swapped = Bars(elem_id="swapped")
            swapped_logits = Notice()
            gr.Markdown(
                "Output 0 of the head is **IsNext** (B is the sentence after A), output 1 is **NotNext** (B comes from "
                "somewhere else); the two sum to 100 %. If order mattered to BERT, the two sides would differ.",
                elem_classes="caption",
            )

    def show(view: View) -> Updates:
        from explorer.techniques.targets import IS_NEXT, own_reading

        answer = view.model.next_sentence(view.text_a, view.text_b)
        turned = view.model.next_sentence(view.text_b, view.text_a)
        error = abs(float(own_reading(view.trace, IS_NEXT).logit) - answer.logits[0])
        return {
            verdict: _bars(answer, "B", "A"),
            logits: _logits(answer),
            saturated: _saturation(answer),
            swapped: _bars(turned, "A", "B"),
            swapped_logits: _logits(turned),
            check: check_line(error, "the logit of IsNext is that of the model's own forward pass"),
        }

    outputs = [verdict, logits, saturated, swapped, swapped_logits, check]
    return Part("This pair", column, show, outputs, unless=_no_b)


def _no_b(view: View) -> str:
    return "" if view.text_b.strip() else NO_B


def _bars(answer: "NextSentence", second: str, first: str) -> dict:
    rows = [
        ("IsNext", answer.is_next, f"{second} follows {first}"),
        ("NotNext", answer.not_next, f"{second} is a stranger"),
    ]
    return Bars.pack(rows)


def _logits(answer: "NextSentence") -> str:
    is_next, not_next = answer.logits
    return f"Logits: IsNext {is_next:.2f}, NotNext {not_next:.2f}; difference {is_next - not_next:+.2f}."


def _saturation(answer: "NextSentence") -> str:
    if max(answer.is_next, answer.not_next) < SATURATED:
        return ""
    return (
        "Saturated: this head is often far surer than it should be, and beyond 99.9 % the probability tells no more; "
        "compare differences of logits instead."
    )


def _target(view: View, _: str) -> "Target":
    from explorer.techniques.targets import is_next_target

    return is_next_target(view.trace)


def _answer(view: View, target: "Target", states: "torch.Tensor") -> list[tuple[str, float, str]]:
    from explorer.techniques.targets import read

    share = float(read(view.model, target, states[None]).probability)
    return [("IsNext", share, ""), ("NotNext", 1 - share, "")]


def _attribution(page: Page, nothing: gr.State) -> Part:
    with gr.Column(visible=False) as column:
        return attribution_view.build(
            page, "Which tokens", _target, word=nothing, column=column, prefix="nsp", unless=_no_b
        )


def _heads(page: Page, nothing: gr.State) -> Part:
    with gr.Column(visible=False) as column:
        return head_board.build(
            page,
            "Which heads",
            "IsNext",
            _target,
            _answer,
            word=nothing,
            column=column,
            prefix="nsp",
            unless=_no_b,
        )
