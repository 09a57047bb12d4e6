"""What the teacher's page shows, as JSON for the phones that follow it."""

import json
from typing import Any
from urllib.parse import parse_qsl

from explorer.base.errors import InputError
from explorer.classroom.questions import KINDS, Question
from explorer.model import checkpoints
from explorer.outlets import links, page_file
from explorer.outlets.place import Place
from explorer.views.subject import Subject

WHOLE = "view"  # as `covered`: everything in the open tab
NOTHING = "Your teacher has covered this; guess first."


def place_of(query: object) -> Place:
    """The place that a link of the teacher's page names. Raises InputError or ModelError."""
    if not isinstance(query, str) or len(query) > links.LONGEST:
        raise InputError("This is too long for a link; shorten the texts.")
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    return links.read(parameters, Subject(checkpoints.default_name(), "", "")).opened()


def question_of(kind: object, query: object) -> Question:
    """A question of a kind about what the teacher's page shows. Raises ExplorerError."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError("Ask for a blank, a pair, or the target of a head.")
    return KINDS[kind](place_of(query).subject)


def shown(query: object, answers_hidden: bool = False, covered: str = "") -> bytes:
    """JSON of the views, drawn by `assets/file/sides.js`. Raises ExplorerError.

    Hidden answers, and a part `covered` by its element id, are not sent to the phones at all.
    """
    place = place_of(query)
    side = page_file.data_of(place.views, place.subject, unfolded=False) | {"query": links.query(place)}
    if answers_hidden or covered:
        side["finding"] = ""
        kinds = {view.name: view for view in place.views}
        for view in side["views"]:
            view["parts"] = [
                part
                for part in view["parts"]
                if not (answers_hidden and kinds[view["name"]].parts[part["name"]].answer)
                and covered not in (WHOLE, _id(view, part))
            ]
            view["note"] = view["note"] or ("" if view["parts"] else NOTHING)
    return json.dumps(side, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _id(view: dict[str, Any], part: dict[str, Any]) -> str:
    """The element id of a part on the page."""
    return f"{view['name'].replace('/', '-')}-{part['name']}"
