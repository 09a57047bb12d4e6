"""Our own components: JavaScript in the page's head draws each one with DOM nodes.

Values never enter a template: Gradio evaluates templates as JavaScript, and a token may contain anything.
"""

import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, ClassVar

from explorer.api.gradio_seams import HTMLComponent
from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS
from explorer.ui.pictures import alternatives
from explorer.ui.pictures.components import COMPONENTS

SELECTED = re.compile(r"#([a-z][\w-]*)(?=[^{};]*\{)")  # an element's id in a selector; assets/first.js draws it with data-of
PLOTLY_ADDRESS = f"bx/{version('plotly')}/plotly.min.js"  # a route of the server: no path of this machine in the page


def page_head(*modules: str) -> str:
    """What the components need in the head of a page, and a script with further `modules` of assets/ after theirs."""
    folder = ASSETS / "components"
    # common.css comes first, since the others extend or override it.
    sheets = sorted(folder.glob("*.css"), key=lambda path: (path.stem != "common", path.stem))
    style = SELECTED.sub(r":is(#\1, [data-of=\1])", "\n".join(path.read_text("utf-8") for path in sheets))
    script = bundle(["components/common.js", *(f"components/{path.name}" for path in sorted(folder.glob("*.js"))), *modules])
    plotly = f'<link rel="alternate" type="text/javascript" id="plotly-js" href="{PLOTLY_ADDRESS}">'
    return f"<style>{style}</style>\n{plotly}\n<script>{script}</script>\n"


class Drawn(HTMLComponent):
    """A component drawn into `skeleton` by the function with its name in assets/components/*.js."""

    skeleton = "<div class='bx'></div>"
    custom_events: tuple[str, ...] = ()
    options: ClassVar[Mapping[str, Any]] = {}  # the arguments of its script, with their defaults

    def __init__(self, value: object = None, **kw: Any) -> None:
        # Settings are kept in JavaScript: what Gradio calls props is lost when a component in a closed tab gets a value.
        settings = {name: kw.pop(name, default) for name, default in self.options.items()}
        self.__dict__.update(settings)  # Gradio takes every other quoted name in the script for an event
        fixed = json.dumps(settings)
        events = ", ".join(f"'{event}'" for event in self.custom_events)  # quoted, so that Gradio offers listeners
        super().__init__(
            value,
            label=settings.get("label"),
            html_template=self.skeleton,
            js_on_load=f"BertExplorer.mount('{type(self).__name__}', element, trigger, props, watch, {fixed}); // {events}",
            apply_default_css=False,
            **kw,
        )

    def postprocess(self, value: object) -> Any:
        """Pass the value on unchanged: it is data, not markup."""
        return value


class Pulse(Drawn):
    """An invisible component: assets/page/drawing.js triggers its `.select` to have the thing called `name` drawn or read.

    `event.index` holds what the user chose: `token`, `layer`, `head` or `hidden_state`, each only if chosen, and `at_once` if
    slow parts may be left out. A new value says that some were left out; the browser then triggers `.rest` to get them.
    """

    skeleton = "<div hidden></div>"
    custom_events = ("rest",)
    options: ClassVar = {"name": ""}

    def __init__(self, **options: Any) -> None:
        super().__init__(elem_classes="bx-pulse", **options)


class TokenRow(Drawn):
    """Tokens as chips, or with `detail` as cards with their numbers.

    A click triggers `.select`; a double click, the M key or the small button on the chosen chip triggers `.mask`.
    With `mask_on_click` a single click triggers `.mask`, nothing triggers `.select`, and words look like gaps to fill.
    Tokens of kind "special" and tokens of a `passive` row cannot be masked. With `with_window` the row says which part of a
    long input all pictures show, and follows when that part moves. Handlers take `event: gr.SelectData`: `event.index` is the
    token's index, `event.value` its text.
    """

    skeleton = "<div class='bx bx-tokens' role='group' aria-label='tokens'></div>"
    custom_events = ("mask",)
    options = COMPONENTS["tokens"].options


class AttentionLines(Drawn):
    """One attention head as lines from the tokens that attend (queries, left) to the tokens attended to (keys, right).

    Pointing at a token shows only its lines; a click keeps them and triggers `.select`: `event.index` is the row or
    column, `event.side` is "query" or "key".
    """

    skeleton = "<div class='bx bx-lines'></div>"
    options = COMPONENTS["lines"].options


class Flow(Drawn):
    """The whole model in one picture. A click triggers `.select`; `event.index` is an object that says what was clicked:

    {state, token, opens}: another place, whose layer opens; {zoom: [layer, head, key]}, of which the last ones may be missing: a
    level of the zoom; {neurons: layer} or {rest: true}: what an answer left out; {cut: [layer, query, key, head or 0 for all]},
    {off: [layer, head]} or {back: a change's name, or "all"}: a change to the model. Layers and heads count from 1, tokens
    from 0.
    """

    skeleton = "<div class='bx bx-flow' role='group'></div>"


class FlowStep(Drawn):
    """An invisible component that passes a part of the picture's value to the Flow of the page, without the rest of it."""

    skeleton = "<div hidden></div>"


class HeadGrid(Drawn):
    """Layers × heads as small pictures. A click or an arrow key triggers `.select`: `event.index == [layer, head]`.

    A double click or the X key triggers `.switch`, with the same index.
    """

    custom_events = ("switch",)
    skeleton = "<div class='bx bx-by-head bx-heads' role='group' aria-label='attention heads'></div>"


class SwitchBoard(Drawn):
    """Layers × heads as switches, coloured by what switching each off does.

    A click, or Enter, switches a head over, and a layer's number all of its heads; both trigger `.select`, with all
    heads that are off now, zero-based [layer, head], as `event.index`.
    """

    skeleton = "<div class='bx bx-by-head bx-board' role='group' aria-label='heads to switch off'></div>"


class WordGrid(Drawn):
    """A table of words, each with a colour between the page's background (0) and the end of the colour ramp (1).

    A click triggers `.select`: `event.index` is [row, column]. A table wider than the page scrolls sideways.
    """

    skeleton = "<div class='bx bx-words'></div>"


class Bars(Drawn):
    """Shares as horizontal bars. A click triggers `.select`: `event.index` is the row, or [group, row] in groups."""

    skeleton = "<div class='bx bx-bars'></div>"


class Ranking(Drawn):
    """Texts with a number each, under a heading. A click triggers `.select`: `event.index` is the `index` of the row's value."""

    skeleton = "<div class='bx bx-ranking' role='group'></div>"


class StripTable(Drawn):
    """Rows of names, numbers, bars and vectors drawn as strips: one small rectangle a number, blue above 0, orange below.

    A click on the name of a row that stands for something triggers `.select`: `event.index` is its `token`. With
    `sortable` a click on a column's title sorts by it, numbers from the largest, and again the other way round.
    """

    skeleton = "<div class='bx bx-strips'></div>"
    options = COMPONENTS["strips"].options


class Steppers(Drawn):
    """Steppers for the numbers of the selection: [{"name", "label", "at", "low", "high"}, ...]; a step has the page drawn."""

    skeleton = "<div class='bx bx-steppers' role='group' aria-label='selection'></div>"


class Says(Drawn):
    """The model's prediction in a sentence, made by `explorer.ui.says`; None for nothing.

    A click on a word that the model does not expect triggers `.mask` with its token. A value with `asks` triggers `.ask`.
    """

    custom_events = ("mask", "ask")
    skeleton = "<div class='bx bx-says' role='status'></div>"


class Sections(Drawn):
    """The sections above the tabs; `building.sections` makes the value."""

    skeleton = "<div class='bx bx-sections' role='tablist' aria-label='sections'></div>"


class More(Drawn):
    """A menu of the choices {"label": its question} that the radio with the element id `of` keeps out of sight."""

    skeleton = "<div class='bx bx-more'></div>"


class Chips(Drawn):
    """Short texts in a line: {"label": what they are, "chips": [...]}. A click triggers `.select`: `event.index` is the position.

    `pressed` ([bool], one a chip) marks chips as done. Chips of `kind` "back" undo something.
    """

    skeleton = "<div class='bx bx-chips' role='group'></div>"


class Passage(Drawn):
    """A text with one part marked: {"before", "marked", "after"}."""

    skeleton = "<div class='bx bx-passage'></div>"


class Architecture(Drawn):
    """The model as boxes from its input down to its heads. A click opens the tab and choice that the box names."""

    skeleton = "<div class='bx bx-architecture' role='group' aria-label='how the model is built'></div>"


class Meter(Drawn):
    """The progress of long work: {"text": ..., "share": 0 to 1, or None if unknown}. It keeps its height when empty."""

    skeleton = "<div class='bx bx-meter' role='status'></div>"


class Notice(Drawn):
    """One plain sentence: a string, or {"text": ..., "kind": "info" or "error"}. It takes no space when empty.

    An error may name the parts that it `hides`, by element id, until there is none: they show an earlier input.
    """

    skeleton = "<div class='bx bx-notice' role='status'></div>"
    options = COMPONENTS["sentence"].options

    def __init__(self, value: object = "", **kw: Any) -> None:
        super().__init__(value, **kw)


class Finding(Drawn):
    """The most telling fact in a sentence: {"text": ..., "why": where its reason is seen, or None}. Keeps its height when empty.

    A click on its button triggers `.select`.
    """

    skeleton = "<div class='bx bx-finding'></div>"


class AnswersSwitch(Drawn):
    """The link to the guide, and the button that hides or shows all answers; assets/answers.js keeps the choice."""

    skeleton = "<div class='bx bx-answers'></div>"


class PlotlyChart(Drawn):
    """A Plotly figure in the style of the page; zoom and camera stay while `layout.uirevision` stays the same.

    `layout.meta = {"ramp": "sequential"}` gives all colour axes the page's own ramp.
    `layout.meta = {"window": {"x": [...], "y": [...]}}` names the tokens along the axes: the figure then shows the window of
    tokens that the whole page shows, beside an overview.
    A click triggers `.select`. In the handler, `event: gr.SelectData` has `event.index`, the number of the point
    ([row, column] in a heatmap), `event.value` (z, text or y of the point), and also `event.x`, `event.y`,
    `event.customdata` and `event.trace`, the number of the trace.
    With `hides_empty` it takes no room while there is no figure.
    """

    options = COMPONENTS["chart"].options

    def __init__(self, value: object = None, *, height: int = 400, **kw: Any) -> None:
        self.skeleton = f"<div class='bx bx-chart' role='group' style='height:{height}px'></div>"
        super().__init__(value, height=height, **kw)

    def postprocess(self, value: object) -> str | dict[str, Any] | None:
        """The figure as JSON with base64 arrays, and with a description in words for those who do not see it."""
        return value if value is None or isinstance(value, str) else alternatives.described(value)
