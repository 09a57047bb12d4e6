"""The endpoint of the Next sentence tab."""

from typing import Any

from explorer.bert.explorer import load


def next_sentence(text_a: str, text_b: str, model: str = "") -> dict[str, Any]:
    """The probability that B is the sentence after A, and that it is not.

    Returns:
        `is_next`, `not_next` (of ALBERT: in order, swapped).
    """
    answer = load(model).next_sentence(text_a, text_b)
    return {"is_next": answer.is_next, "not_next": answer.not_next}


ENDPOINTS = (next_sentence,)
