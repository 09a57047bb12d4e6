"""Our own components: JavaScript in the page's head draws each one with DOM nodes.

Values never enter a template: Gradio evaluates templates as JavaScript, and a token may contain anything.
"""

import json
from importlib.metadata import version
from typing import Any, ClassVar

from explorer.api.gradio_seams import HTMLComponent
from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS
from explorer.ui.pictures import alternatives
from explorer.ui.pictures.components import COMPONENTS, GROUP, Component

PLOTLY_ADDRESS = f"bx/{version('plotly')}/plotly.min.js"  # a route of the server: no path of this machine in the page


def page_head(*modules: str) -> str:
    """What the components need in the head of a page, and a script with further `modules` of assets/ after theirs."""
    folder = ASSETS / "components"
    # common.css comes first, since the others extend or override it.
    sheets = sorted(folder.glob("*.css"), key=lambda path: (path.stem != "common", path.stem))
    style = "\n".join(path.read_text("utf-8") for path in sheets)
    script = bundle(["components/common.js", *(f"components/{path.name}" for path in sorted(folder.glob("*.js"))), *modules])
    plotly = f'<link rel="alternate" type="text/javascript" id="plotly-js" href="{PLOTLY_ADDRESS}">'
    return f'<style id="bx-style">{style}</style>\n{plotly}\n<script>{script}</script>\n'


class Drawn(HTMLComponent):
    component: ClassVar[Component]

    def __init__(self, value: object = None, **kw: Any) -> None:
        # Settings are kept in JavaScript: what Gradio calls props is lost when a component in a closed tab gets a value.
        settings = {name: kw.pop(name, default) for name, default in self.component.options.items()}
        self.__dict__.update(settings)  # Gradio takes every other quoted name in the script for an event
        name, fixed = self.component.name, json.dumps(settings)
        events = ", ".join(f"'{event}'" for event in self.component.events)  # quoted, so that Gradio offers listeners
        super().__init__(
            value,
            label=settings.get("label"),
            html_template=f"<div class='{self.component.classes}' {self.component.aria}></div>",
            js_on_load=f"BertExplorer.mount('{name}', element, trigger, props, watch, {fixed}); // {events}",
            apply_default_css=False,
            **kw,
        )

    def postprocess(self, value: object) -> Any:
        """Pass the value on unchanged: it is data, not markup."""
        return value


def _class_of(component: Component) -> type[Drawn]:
    """The class of a component with which nothing is done in Python."""
    return type(component.name, (Drawn,), {"component": component})


class PlotlyChart(Drawn):
    component = COMPONENTS["chart"]

    def postprocess(self, value: object) -> str | dict[str, Any] | None:
        """The figure as JSON with base64 arrays, and with a description in words for those who do not see it."""
        return value if value is None or isinstance(value, str) else alternatives.describe(value)


class TokenRow(Drawn):
    component = COMPONENTS["tokens"]


class Notice(Drawn):
    component = COMPONENTS["sentence"]


class Pulse(Drawn):
    """An invisible component: assets/page/drawing.js triggers its `.select` to have the thing called `name` drawn or read.

    `event.index` contains the user's choice: `token`, `layer`, `head` or `hidden_state`, each only if chosen, and `at_once` if
    slow parts may be left out. A new value says that some were left out; the browser then triggers `.rest` to get them.
    """

    component = Component("Pulse", "", {"name": ""}, ("rest",), "hidden")

    def __init__(self, **options: Any) -> None:
        super().__init__(elem_classes="bx-pulse", **options)


Steppers = _class_of(Component("Steppers", "bx bx-steppers", aria="role='group' aria-label='selection'"))
"""Steppers for the numbers of the selection: [{"name", "label", "at", "low", "high"}, ...]; a step has the page drawn."""


Says = _class_of(Component("Says", "bx bx-says", {}, ("mask", "ask"), "role='status'"))
"""The model's prediction in a sentence, made by `explorer.ui.answers`; None for nothing.

A click on a word that the model does not expect triggers `.mask` with its token. A value with `asks` triggers `.ask`.
"""


Sections = _class_of(Component("Sections", "bx bx-sections", aria="role='tablist' aria-label='sections'"))
"""The sections above the tabs; `building.sections` makes the value."""

More = _class_of(Component("More", "bx bx-more"))
"""A menu of the choices {"label": its question} that the radio with the element id `of` keeps out of sight."""


Chips = _class_of(Component("Chips", "bx bx-chips", aria=GROUP))
"""Short texts in a line: {"label": what they are, "chips": [...]}. A click triggers `.select`: `event.index` is the position.

`pressed` ([bool], one a chip) marks chips as done. Chips of `kind` "back" undo something.
"""


FlowStep = _class_of(Component("FlowStep", "", aria="hidden"))
"""An invisible component that passes a part of the picture's value to the Flow of the page, without the rest of it."""


Meter = _class_of(Component("Meter", "bx bx-meter", aria="role='status'"))
"""The progress of long work: {"text": ..., "share": 0 to 1, or None if unknown}. It keeps its height when empty."""


Finding = _class_of(Component("Finding", "bx bx-finding"))
"""The most telling fact in a sentence: {"text": ..., "why": where its reason is seen, or None}.

It keeps its height when empty, unless there is "none" to come. A click on its button triggers `.select`.
"""


AnswersSwitch = _class_of(Component("AnswersSwitch", "bx bx-answers"))
"""The link to the guide, and the button that hides or shows all answers; assets/answers.js keeps the choice."""

OF_PARTS: dict[str, type[Drawn]] = {
    **{kind: _class_of(component) for kind, component in COMPONENTS.items()},
    "chart": PlotlyChart,
    "tokens": TokenRow,
    "sentence": Notice,
    "check": Notice,
    "meter": Meter,
    "chips": Chips,
    "step": FlowStep,
}
"""The class that draws a kind of part."""
