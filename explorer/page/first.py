"""The page as it is first sent, with what it opens with: seen before anything is asked or computed."""

from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from typing import Any

import gradio as gr
from gradio.blocks import postprocess_update_dict

from explorer.figures.token_row import token_row_of
from explorer.page.components import TokenRow
from explorer.page.events import Updates
from explorer.page.examples import first_subject
from explorer.page.tab import TabPage


class Asked(Enum):
    """What of the page's configuration a request is for."""

    PAGE = "the page as it opens by itself"
    LINK = "the page that a link describes"
    ALL = "every component and listener"


ASKED: ContextVar[Asked] = ContextVar("ASKED", default=Asked.ALL)


def opens_with(strip: TokenRow, tab: TabPage) -> Updates:
    """What the first example gives in a tab, and in the strip above, by component. Raises ExplorerError."""
    subject = first_subject()
    return {strip: token_row_of(subject.trace.encoding, subject.selection.token), **tab.show(subject, tab.complete({}))}


def filled(config: Mapping[str, Any], updates: Updates) -> dict[str, Any]:
    """A page's configuration with new values in it; states stay on the server, and are as they are."""
    changed = {component._id: _props(component, value) for component, value in updates.items() if not _is_state(component)}
    components = [{**one, "props": {**one["props"], **changed.get(one["id"], {})}} for one in config["components"]]
    return {**config, "components": components}


def _is_state(component: Any) -> bool:
    return getattr(component, "stateful", False) or isinstance(component, gr.BrowserState)


def _props(component: Any, value: Any) -> dict[str, Any]:
    """What Gradio would send for an update, as the properties of the component."""
    if isinstance(value, gr.blocks.Block):
        return {name: given for name, given in value.constructor_args.items() if name == "visible"}
    given = props_of(value)
    if "value" in given:
        given |= {"value": postprocess_update_dict(component, {"value": given["value"]})["value"]}
    return given


def props_of(value: Any) -> dict[str, Any]:
    """The properties that an update sets: the value, or those that it names."""
    if isinstance(value, dict) and value.get("__type__") == "update":
        return {name: part for name, part in value.items() if name != "__type__"}
    return {"value": value}
