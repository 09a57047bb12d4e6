"""The components that our JavaScript draws: what the page, files and notebooks know of each, by kind of part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Component:
    """How a component is made: the function with its `name` in assets/components/*.js draws it into a box of these `classes`.

    `options` are the arguments of that function with their defaults, `events` what it triggers besides `select`, `aria` further
    attributes of the box. In Python, `event.index` says what was clicked.
    """

    name: str
    classes: str
    options: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    aria: str = ""


GROUP = "role='group'"
TOKEN_ROW = {"detail": False, "mask_on_click": False, "with_window": False, "passive": False}

COMPONENTS = {
    # A Plotly figure in the style of the page; zoom and camera stay while `layout.uirevision` does. In `layout.meta`, "ramp":
    # "sequential" gives all colour axes the page's own ramp, and "window": {"x": [...], "y": [...]} names the tokens along the
    # axes, of which the figure shows the window that the whole page shows. `index`: the number of the point ([row, column] in a
    # heatmap); also `event.value` (z, text or y), `event.x`, `event.y`, `event.customdata`, `event.trace`. With `hides_empty`
    # it takes no room while there is no figure.
    "chart": Component("PlotlyChart", "bx bx-chart", {"label": "", "height": 400, "hides_empty": False}, aria=GROUP),
    # The whole model in one picture. `index`: {state, token, opens}: another place, whose layer opens; {zoom: [layer, head,
    # key]}, of which the last ones may be missing: a level of the zoom; {neurons: layer} or {rest: true}: what an answer left
    # out; {cut: [layer, query, key, head or 0 for all]}, {off: [layer, head]} or {back: a change's name, or "all"}: a change
    # to the model. Layers and heads count from 1, tokens from 0.
    "flow": Component("Flow", "bx bx-flow", aria=GROUP),
    # Layers × heads as small pictures. `index`: [layer, head], by a click or an arrow key; a double click or X triggers
    # `switch`.
    "head_grid": Component("HeadGrid", "bx bx-by-head bx-heads", {}, ("switch",), "role='group' aria-label='attention heads'"),
    # One head as lines from queries (left) to keys (right). `index`: the row or column; `event.side`: "query" or "key".
    "lines": Component("AttentionLines", "bx bx-lines", {"height": None}),
    # Tokens as chips, or with `detail` as cards with their numbers. `index`: the token, `event.value`: its text. A double
    # click, M or the small button on the chosen chip triggers `mask`; with `mask_on_click` every click does, and words look
    # like gaps to fill. Special tokens, and those of a `passive` row, cannot be masked. With `with_window` the row says which
    # part of a long input all pictures show, and follows when that part moves.
    "tokens": Component("TokenRow", "bx bx-tokens", TOKEN_ROW, ("mask",), "role='group' aria-label='tokens'"),
    # Rows of names, numbers, bars and vectors drawn as strips: a small rectangle per number, blue above 0, orange below.
    # `index`: the `token` of a row that stands for something. With `sortable` a click on a title sorts, numbers from the
    # largest, then in reverse.
    "strips": Component("StripTable", "bx bx-strips", {"height": 640, "sortable": False}),
    # Shares as horizontal bars. `index`: the row, or [group, row] in groups.
    "bars": Component("Bars", "bx bx-bars"),
    # A table of words, each with a colour from the page's background (0) to the end of the ramp (1). `index`: [row, column].
    "words": Component("WordGrid", "bx bx-words"),
    # Texts with a number each, under a heading. `index`: that of the row's value.
    "ranking": Component("Ranking", "bx bx-ranking", aria=GROUP),
    # Layers × heads as switches, coloured by what switching each off does; a layer's number switches all its heads. `index`:
    # all heads that are off now, zero-based [layer, head].
    "board": Component("SwitchBoard", "bx bx-by-head bx-board", aria="role='group' aria-label='heads to switch off'"),
    # Classes as coloured cards to type into, made by `explorer.finetune.cards`. `index`: [[name, [line, ...]], ...], a pair per
    # card, after a short pause in typing; {"cards": those, "card": a number, "name", "content": a data URL}
    # when a table is pasted or a file is dropped on a card.
    "cards": Component("Cards", "bx bx-cards", aria="role='group' aria-label='classes'"),
    # Texts as points on a plane, made by `explorer.ui.pictures.text_map`. `index`: the number of the point, or its own `index`.
    # Without a value it says what is `missing`, or takes no room where that is "". A `tall` one is as high as the window allows.
    # Triggers `frame` when a person stops at a frame, and `lasso`, if it `selects`, with the list of what a click would send.
    "text_map": Component(
        "TextMap", "bx bx-text-map", {"height": 360, "missing": "", "tall": False, "selects": False}, ("frame", "lasso"), GROUP
    ),
    # The model as boxes from its input down to its heads; a click opens the tab and choice that the box names.
    "architecture": Component("Architecture", "bx bx-architecture", aria="role='group' aria-label='how the model is built'"),
    # One plain sentence: a string, or {"text": ..., "kind": "info" or "error"}; it takes no room when empty. An error may name
    # the parts that it `hides`, by element id, until there is none: they show an earlier input.
    "sentence": (NOTICE := Component("Notice", "bx bx-notice", {"keep_height": False}, aria="role='status'")),
    "check": NOTICE,
}
