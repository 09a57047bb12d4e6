"""Markdown of our own files as HTML. Drawings are inline SVG, so that they have the colours of the page around them."""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from explorer.core.paths import ASSETS

DRAWINGS = ASSETS / "guide" / "pictures"


def markdown() -> MarkdownIt:
    """A parser with tables. HTML is text in it, and `![what it shows](pictures/NAME.svg)` is a drawing of the guide."""
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.add_render_rule("image", _image)
    return made


@cache
def drawings() -> Mapping[str, str]:
    return {path.name: path.read_text("utf-8") for path in DRAWINGS.glob("*.svg")}


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    drawing = drawings().get(PurePosixPath(str(tokens[index].attrGet("src"))).name)
    if drawing is None:
        return renderer.image(tokens, index, options, env)
    told = escape(renderer.renderInlineAsText(tokens[index].children, options, env))
    return drawing.replace("<svg", f'<svg class="drawing" role="img" aria-label="{told}"', 1)
