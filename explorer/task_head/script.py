"""Scripts of the model's own task head, by the transformers class that it was saved from."""

from typing import Any

from explorer.bert.families import ANSWER, LABELS, REPLACED, TAGS
from explorer.techniques.own_head import LONGEST_ANSWER
from explorer.ui.scripts.names import TOKENS, Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject
from explorer.ui.view import View

SQUASHED = {"softmax": "logits.softmax(-1)", "sigmoid": "logits.sigmoid()", "none": "logits"}


def _start(subject: Subject) -> list[str]:
    model = subject.model
    kind = "" if model.capabilities.own_head == REPLACED else type(model.task_head().module).__name__
    names = Names(model, kind=kind)
    return [names.opened(), names.encoded(subject.text_a, subject.text_b), TOKENS]


def labels(view: View, subject: Subject) -> str:
    """The probability of every label."""
    shares = SQUASHED[subject.model.task_head().squash]
    made = f"logits = model(**inputs).logits[0]  # [labels]\nshares = {shares}"
    show = "for place, share in enumerate(shares.tolist()):\n    print(model.config.id2label[place], share)"
    return script(view.question, *_start(subject), made, show)


def tags(view: View, subject: Subject) -> str:
    """The tag of every token."""
    made = "shares = model(**inputs).logits[0].softmax(-1)  # [tokens, tags]"
    show = "for token, row in zip(tokens, shares):\n    print(token, model.config.id2label[int(row.argmax())], float(row.max()))"
    return script(view.question, *_start(subject), made, show)


def answer(view: View, subject: Subject) -> str:
    """The likeliest answer spans in B."""
    if not subject.text_b.strip():
        return ""
    return script(
        view.question,
        *_start(subject),
        f"""
        outputs = model(**inputs)
        starts, ends = outputs.start_logits[0].softmax(-1), outputs.end_logits[0].softmax(-1)  # [tokens]
        inside = [place for place, side in enumerate(inputs.sequence_ids(0)) if side == 1]
        spans = [(start, end) for start in inside for end in inside if start <= end < start + {LONGEST_ANSWER}]
        spans.sort(key=lambda span: -starts[span[0]] * ends[span[1]])  # Devlin et al. 2019, section 4.2
        shares = [float(starts[start] * ends[end]) for start, end in spans[:6]]
        for (start, end), share in zip(spans, shares):
            print(tokenizer.decode(inputs["input_ids"][0, start:end + 1]), f"{{share:.2%}}")
        """,
    )


def replaced(view: View, subject: Subject) -> str:
    """The probability of each piece to be a replaced one."""
    made = "shares = model(**inputs).logits[0].sigmoid()  # [tokens]"
    return script(
        view.question, *_start(subject), made, "for token, share in zip(tokens, shares.tolist()):\n    print(token, share)"
    )


def _for(task: str, make: Any) -> Any:
    """The script, for models whose head has this task only."""
    return lambda view, subject: make(view, subject) if subject.model.capabilities.own_head == task else ""


CODE = {
    "own-head/labels": _for(LABELS, labels),
    "own-head/tags": _for(TAGS, tags),
    "own-head/answer": _for(ANSWER, answer),
    "own-head/replaced": _for(REPLACED, replaced),
}
