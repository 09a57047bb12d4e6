"""What a tab opens with, as JSON that the browser paints while Gradio is still loading: boxes and their contents."""

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from explorer.api.gradio_seams import component_id, props_sent
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.export.place import Place
from explorer.page.blocks import PageBlocks
from explorer.page.components import Drawn, Pulse
from explorer.page.controls import ANSWER
from explorer.page.events import merge, plain
from explorer.page.frame import Shell
from explorer.ui.long_view import LongView

Node = dict[str, Any]

BOXES = {"tabitem", "row", "column", "form", "accordion"}  # Gradio's containers
UNSEEN = {"state", "browserstate"}
LOOK = ("scale", "min_width", "container", "show_label", "size", "variant", "lines", "max_lines")  # of a box or a control
SAID = ("label", "info", "value", "choices", "placeholder", "headers", "column_widths", "minimum", "maximum")  # of a control
KEPT = 24  # paintings: a class opens many tabs, usually of the same text


def painter(shell: Shell, blocks: PageBlocks) -> Callable[[Place, bool], bytes]:
    """A function that returns what the tab of a place shows, as JSON, with or without answers. It raises ExplorerError."""
    made: OnceCache[Hashable, bytes] = OnceCache(KEPT)

    def paint(place: Place, answers: bool) -> bytes:
        def told() -> bytes:
            return json.dumps(painted(shell, blocks, place, answers), separators=(",", ":")).encode()

        if any(isinstance(view, LongView) for view in place.views):  # never cached: it may show more once the work is done
            return told()
        subject = place.subject
        about = (subject.model_name, subject.text_a, subject.text_b, subject.chosen)
        return made.get((place.tab, place.choice, answers, about, tuple(place.settings.items())), told)

    return paint


def painted(shell: Shell, blocks: PageBlocks, place: Place, answers: bool = True) -> Node:
    """The boxes of a tab with the choice, and their contents: as the page is sent to build it; `answers` only if wanted."""
    tab = shell.tabs[place.tab]
    set_so = tab.arrive(place)
    values = tab.complete({one: plain(value) for one, value in set_so.items()})
    try:
        shown = tab.show(place.subject, values)
    except InputError as error:  # no text, or one too long: show the tab with the error
        shown = {tab.hint: {"text": str(error), "kind": "error"}}
    updates = merge(set_so, shown)
    sent = {component_id(one): props_sent(one, value) for one, value in updates.items() if not getattr(one, "stateful", False)}
    opened = [component_id(tab.item), component_id(tab.choices[place.choice].column)]
    built = blocks.pieces.delivery(opened, sent, ())
    props = {component["id"]: component if answers else _unanswered(component) for component in built["components"]}
    return _node(built["layout"], props, blocks) or {}


def _unanswered(component: dict[str, Any]) -> dict[str, Any]:
    """The component without its value, if that is an answer."""
    props = component["props"]
    return {**component, "props": {**props, "value": None}} if ANSWER in (props.get("elem_classes") or ()) else component


def _node(at: Mapping[str, Any], sent: Mapping[int, Mapping[str, Any]], blocks: PageBlocks) -> Node | None:
    """A box with its contents, or a component; None if it is invisible."""
    kind, props = sent[at["id"]]["type"], sent[at["id"]]["props"]
    component = blocks.blocks[at["id"]]
    if kind in UNSEEN or isinstance(component, Pulse) or props.get("visible", True) is not True:
        return None
    node: Node = {"kind": kind, "of": props.get("elem_id"), "classes": props.get("elem_classes") or []}
    node |= {name: props[name] for name in LOOK if props.get(name) is not None}
    if kind in BOXES:
        inside = [one for child in at.get("children", ()) if (one := _node(child, sent, blocks)) is not None]
        return {**node, "label": props.get("label"), "inside": inside} if inside or kind != "form" else None
    if isinstance(component, Drawn):
        options = {name: getattr(component, name) for name in component.options}
        drawn = {"component": type(component).__name__, "skeleton": component.skeleton, "options": options}
        return {**node, **drawn, "kind": "drawn", "value": props.get("value")}
    return node | {name: props[name] for name in SAID if props.get(name) is not None}
