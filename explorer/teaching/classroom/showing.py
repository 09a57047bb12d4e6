"""What the teacher's page shows, as JSON for the phones that follow it."""

import json
from collections.abc import Mapping
from typing import Any

from explorer.core.errors import InputError
from explorer.export import links, page_file
from explorer.export.place import Place
from explorer.teaching.classroom.questions import KINDS, Asked, question_of_step
from explorer.teaching.lessons.exercises import place_of
from explorer.ui.attention_data import find_telling
from explorer.ui.pictures.heatmaps import TELLING
from explorer.ui.subject import Subject

LESSON = "lesson"  # the kind of a question that a lesson's step asks
PIECES = "tokens"  # the tab that shows the pieces of the input
WHOLE = "view"  # as `covered`: everything in the open tab
NOTHING = "Your teacher has covered this; guess first."


def question_of(asked: Mapping[str, Any]) -> Asked:
    """The question that a teacher asks: a lesson step's, or one of a kind about what the page shows. Raises ExplorerError."""
    kind = asked.get("kind")
    if kind == LESSON:
        return question_of_step(asked.get("lesson"), asked.get("step"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError("Ask for a blank, a pair, or the target of a head.")
    place = place_of(asked.get("query"))
    return KINDS[kind](looked_from(place) if kind == "target" else place.subject)


def looked_from(place: Place) -> Subject:
    """The subject with the head and the token that the page's finding names, where they were not chosen there. Raises
    ExplorerError."""
    subject = place.subject
    found = find_telling(subject)
    token = next((position for position in (subject.selection.token, found.query) if position is not None), subject.token)
    return subject.select(layer=found.layer + 1, head=found.head + 1, token=token)


def draw(query: object, answers_hidden: bool = False, covered: str = "") -> bytes:
    """JSON of the views, drawn by `assets/file/sides.js`. Raises ExplorerError.

    Hidden answers, and a part `covered` by its element id, are not sent to the phones at all.
    """
    place = place_of(query).opened()
    side = page_file.data_of(place.views, place.subject, unfolded=False) | {"query": links.query(place)}
    if answers_hidden or covered:
        side["finding"] = ""
        if covered and place.tab == PIECES:
            side["input"] = None  # the row of pieces is what a lesson asks for there
        kinds = {view.name: view for view in place.views}
        for view in side["views"]:
            view["parts"] = [
                _without_outline(part)
                for part in view["parts"]
                if not kinds[view["name"]].parts[part["name"]].answer and covered not in (WHOLE, _id(view, part))
            ]
            view["note"] = view["note"] or ("" if view["parts"] else NOTHING)
    return json.dumps(side, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _without_outline(part: dict[str, Any]) -> dict[str, Any]:
    """The part without the outline of the cell that the finding is about."""
    value = part["value"]
    if not isinstance(value, dict) or "shapes" not in value.get("layout", ()):
        return part
    shapes = [shape for shape in value["layout"]["shapes"] if not str(shape.get("name", "")).endswith(TELLING)]
    return {**part, "value": {**value, "layout": {**value["layout"], "shapes": shapes}}}


def _id(view: dict[str, Any], part: dict[str, Any]) -> str:
    """The element id of a part on the page."""
    return f"{view['name'].replace('/', '-')}-{part['name']}"
