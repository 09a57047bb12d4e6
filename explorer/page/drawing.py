"""Draw what is open: one answer holds the user's choice, the tokens above the tabs, and the open choice of the open tab.

The browser asks for it through a `Pulse` (`draw` in assets/page/drawing.js): that of the open choice, which gets the
settings there, or that of the page, while the tab is not built.
After a key press a picture is wanted `at_once`: the answer leaves slow parts out and reports that to the pulse, and the browser
asks for them when it has drawn the picture. A user who goes on typing waits for none of them.
"""

import itertools
from typing import Any

import gradio as gr

from explorer.core.errors import ExplorerError
from explorer.page.blocks import PageBlocks
from explorer.page.components import Pulse
from explorer.page.events import Updates, Values, run, then
from explorer.page.frame import Shell
from explorer.page.tab import Choice, TabPage, wrong
from explorer.tabs import FIRST_TAB
from explorer.text import limits
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.steppers import STEPPERS
from explorer.ui.subject import Subject
from explorer.ui.view import View

TURNS = itertools.count(1)  # a new value each time: the browser does not hear of a value that stays the same


def listen(shell: Shell, blocks: PageBlocks) -> None:
    around = [shell.open_tab, shell.notice, shell.strip]
    for tab in shell.tabs.values():
        for label, choice in tab.choices.items():
            panels = [*tab.above, *choice.panels]
            outputs = [*around, *tab.frame, *tab.outputs_of(panels), choice.pulse]
            known = {tab.which: label} if tab.which else {}
            _listen(shell, choice.pulse, outputs, tab.inputs_of(panels), tab, known)
            if any(view.prepare_rest is not View.prepare_rest for view in choice.views):
                _listen_for_rest(blocks, tab, choice, known)
    inputs = shell.inputs
    # Whatever else changes belongs to the tab, which is built with it.
    outputs = [*around, inputs.selection, shell.steppers, shell.says, shell.put_back, shell.suggestion, shell.address]
    _listen(shell, shell.pulse, outputs, [*inputs.all, *shell.kept])


def _listen_for_rest(blocks: PageBlocks, tab: TabPage, choice: Choice, known: Values) -> None:
    def finish(values: Values, request: gr.Request) -> Updates:
        values = tab.complete({**values, **known})
        subject = tab.inputs.subject(values)
        steps = itertools.chain.from_iterable(view().prepare_rest(subject) for view in choice.views)
        return tab.rest(subject, values) if blocks.finish(steps, request.session_hash) else {}

    panels = [*tab.above, *choice.panels]
    outputs = [choice.pulse, *tab.outputs_of(panels)]
    then(run(choice.pulse.rest, finish, outputs, tab.inputs_of(panels)), "finished")


def _listen(
    shell: Shell, pulse: Pulse, outputs: list[Any], inputs: list[Any], tab: TabPage | None = None, known: Values | None = None
) -> None:
    """Draw when a pulse asks for it: the tab of the pulse, with the `known` values of controls, or else the one that is named."""

    def draw(values: Values, event: gr.SelectData) -> Updates:
        chosen = event.index if isinstance(event.index, dict) else {}
        asked = tab or shell.tabs.get(str(chosen.get("tab"))) or shell.tabs[FIRST_TAB]
        return draw_tab(shell, asked, {**values, **(known or {})}, chosen, pulse)

    then(run([pulse.select], draw, outputs, inputs), "drawn")


def draw_tab(shell: Shell, tab: TabPage, values: Values, chosen: dict[str, Any], pulse: Pulse) -> Updates:
    """Draw a tab with its open choice, after the user `chosen` a token, layer or head.

    A pulse that asked `at_once` gets a new value if something was left out.
    """
    values = tab.complete(values)
    subject = shell.inputs.subject(values)
    if chosen.get("at_once") is True and pulse is not shell.pulse:
        subject = subject.hurried
    updates: Updates = {shell.open_tab: tab.tab.id}
    try:
        if chosen.keys() & {"token", *STEPPERS}:
            # A page that was only just sent shows a layer and a head before any is selected.
            subject = select(tab.opening(subject, values), chosen)
        updates[shell.inputs.selection] = subject.selection
        if "token" in chosen:
            updates[shell.strip] = token_row_of(subject.trace.encoding, subject.selection.token)
        updates |= tab.show(subject, values)
        return updates | ({pulse: next(TURNS)} if subject.later else {})
    except ExplorerError as error:
        if pulse is shell.pulse:  # the tab is not built
            return updates | {shell.notice: {"text": str(error), "kind": "error"}}
        return updates | {tab.hint: wrong(error, tab.open(values).panels)}


def select(subject: Subject, chosen: dict[str, Any]) -> Subject:
    """The subject with the chosen token, layer and head. Raises InputError."""
    if "token" in chosen:
        subject = subject.select(token=limits.check_place(chosen["token"]))
    for name in STEPPERS.keys() & chosen.keys():  # the selection limits it to the model's range
        stepper = STEPPERS[name]
        number = limits.check_integer(chosen[name], f"the {stepper.label.lower()}", 0, limits.MOST_PLACES)
        subject = subject.select(**{stepper.field: number})
    return subject
