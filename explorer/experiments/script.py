"""The program of an experiment: every head off, in every item."""

from typing import Any

from explorer.experiments.source import FILE
from explorer.techniques.targets import piece_of
from explorer.ui.programs import Values, programs, typed
from explorer.ui.subject import Subject

ITEMS = ("source", "typed", "template", "pairs", "longest", "mark", "seed", "place")  # settings by which they are chosen


def heads(view: Any, subject: Subject) -> Values:
    """The items, if they have words and do not come from a file, which stays on the page."""
    if view.source == FILE or view.refusal(subject) or not all(item.word and item.foil for item in view.items_of(subject.model)):
        return None

    def named(word: str) -> str:
        return str(subject.model.tokenizer.convert_ids_to_tokens(piece_of(subject.model, word)[0]))

    rows = []
    for item in view.items_of(subject.model):
        text_a, text_b = typed(subject, item.text_a, item.text_b)
        rows.append((text_a, text_b or None, named(item.word), named(item.foil)))
    return {"items": rows}


program = programs(__file__)
PROGRAMS = {"experiments/heads": program("heads", *ITEMS, values=heads)}
