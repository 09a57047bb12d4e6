"""What all components share: a piece of JavaScript in the page's head draws them with DOM nodes.

Values never enter a template: Gradio evaluates templates as JavaScript, and a token may say anything.
"""

import json
from pathlib import Path
from typing import Any

import gradio as gr

from explorer.base.paths import ASSETS
from explorer.figures.base import PLOTLY_JS


def _head() -> str:
    """Styles, Plotly and our scripts; what all share comes first, since the others add to it or overrule it."""
    styles, scripts = ("\n".join(path.read_text("utf-8") for path in _common_first(suffix)) for suffix in ("css", "js"))
    plotly_tag = f'<script async id="plotly-js" src="gradio_api/file={PLOTLY_JS.as_posix()}"></script>'
    return f"<style>{styles}</style>\n{plotly_tag}\n<script>{scripts}</script>\n"


def _common_first(suffix: str) -> list[Path]:
    return sorted((ASSETS / "components").glob(f"*.{suffix}"), key=lambda path: (path.stem != "common", path.stem))


gr.set_static_paths([PLOTLY_JS])
HEAD = _head()
"""For `launch(head=...)`: everything that the components need in the page."""


class Drawn(gr.HTML):
    """A component that the function of its name in assets/components/*.js draws into `skeleton`."""

    skeleton = "<div class='bx'></div>"
    custom_events: tuple[str, ...] = ()

    def __init__(self, value: Any = None, *, settings: dict[str, Any] | None = None, **kw: Any) -> None:
        # Settings are ours and stay: what Gradio calls props is lost when a component in a closed tab gets a value.
        settings = settings or {}
        vars(self).update(settings)  # Gradio takes every other name quoted in the script for an event
        fixed = json.dumps(settings)
        events = ", ".join(f"'{event}'" for event in self.custom_events)  # quoted, so that Gradio offers listeners
        super().__init__(
            value,
            html_template=self.skeleton,
            js_on_load=f"BertExplorer.mount('{type(self).__name__}', element, trigger, props, watch, {fixed}); // {events}",
            apply_default_css=False,
            **kw,
        )

    def get_block_name(self) -> str:
        """All of them are drawn by Gradio's HTML component."""
        return "html"

    def postprocess(self, value: Any) -> Any:
        """Values are data, not markup, and pass as they are."""
        return value

    def api_info(self) -> dict[str, Any]:
        """What a client would send."""
        return {"type": "object"}
