"""The page as it is first sent, filled with its opening values: seen before anything is requested or computed."""

from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from typing import Any

import gradio as gr

from explorer.api.gradio_seams import component_id, props_sent
from explorer.page.components import TokenRow
from explorer.page.events import Updates
from explorer.page.examples import first_subject
from explorer.page.tab import TabPage
from explorer.ui.pictures.token_row import token_row_of


class Asked(Enum):
    """Which configuration of the page a request is for."""

    PAGE = "the page as it opens by itself"
    LINK = "the page that a link describes"
    ALL = "every component and listener"


ASKED: ContextVar[Asked] = ContextVar("ASKED", default=Asked.ALL)


def opens_with(strip: TokenRow, tab: TabPage) -> Updates:
    """The values for the first example: of the tab's components and of the token strip. Raises ExplorerError."""
    subject = first_subject()
    return {strip: token_row_of(subject.trace.encoding, subject.selection.token), **tab.show(subject, tab.complete({}))}


def filled(config: Mapping[str, Any], updates: Updates) -> dict[str, Any]:
    """A page's configuration with new values; states stay on the server and are left as they are."""
    changed = {
        component_id(component): props_sent(component, value) for component, value in updates.items() if not _is_state(component)
    }
    components = [{**one, "props": {**one["props"], **changed.get(one["id"], {})}} for one in config["components"]]
    return {**config, "components": components}


def _is_state(component: Any) -> bool:
    return getattr(component, "stateful", False) or isinstance(component, gr.BrowserState)
