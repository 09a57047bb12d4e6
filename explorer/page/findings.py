"""Lead from a finding, or from a button with `leads`, to the place where its reason is seen."""

from collections.abc import Callable

import gradio as gr

from explorer.page.blocks import PageBlocks
from explorer.page.events import Updates, Values, merge, run
from explorer.page.frame import Shell
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject
from explorer.ui.view import Why


def listen(shell: Shell, blocks: PageBlocks) -> list[gr.events.Dependency]:
    """Let 'see why' and parts with `leads` open the tab, choice, selection and settings that their `Why` names.

    The page must be redrawn after each of the returned events, unless they built the choice. The finding is computed again
    on the server: what a browser sends cannot be trusted.
    """
    inputs, pages = shell.inputs, list(shell.tabs.values())
    choices = [tab.which for tab in pages if tab.which]
    around = [shell.strip, shell.notice, shell.steppers, shell.address]
    outputs = [shell.open_tab, shell.tab_bar, inputs.selection, *around, *shell.settable]

    def go(subject: Subject, why: Why | None, values: Values, session: str | None) -> Updates:
        if why is None:
            return {shell.open_tab: gr.skip()}  # Gradio refuses an empty answer
        target = shell.tabs[why.tab]
        subject = subject.select(**why.selection) if why.selection else subject
        updates: Updates = {shell.open_tab: target.tab.id, shell.tab_bar: gr.Tabs(selected=target.tab.id)}
        if why.selection:
            strip = token_row_of(subject.trace.encoding, subject.selection.token)
            updates |= {inputs.selection: subject.selection, shell.strip: strip}
        set_so = {target.which: why.choice} if target.which else {}
        set_so |= {target.controls[name]: value for name, value in why.settings.items()}
        built = blocks.has_built(session, target, why.choice)
        return updates | set_so if built else merge(updates, shell.build(target, subject, values, set_so))

    def see_why(values: Values, request: gr.Request) -> Updates:
        here = shell.opened(values)
        subject = here.opening(inputs.subject(values), values)  # the page may have only just been sent, with nothing selected yet
        found = here.find(subject, values)
        return go(subject, None if found is None else found.why, values, request.session_hash)

    def leading(tab: TabPage, panel: Panel, name: str) -> Callable[[Values, gr.Request], Updates]:
        def lead(values: Values, request: gr.Request) -> Updates:
            subject = tab.opening(inputs.subject(values), values)
            why = getattr(panel.read(values, subject), f"on_{name}")(subject, None)
            return go(subject, why, values, request.session_hash)

        return lead

    finders = [panel for tab in pages for choice in tab.choices.values() for panel in choice.finders]
    read = [control for panel in finders for control in panel.controls.values()]
    told = [tab.finding.select for tab in pages if tab.finds]
    ways = [run(told, see_why, outputs, [*inputs.all, shell.open_tab, *choices, *read, *shell.kept])]
    for page, panel in [(tab, panel) for tab in pages for panel in tab.panels]:
        for name in [name for name in panel.view.parts if panel.view.does(name) is Why]:
            ways.append(run([panel.parts[name].click], leading(page, panel, name), outputs, [*page.all_inputs, *shell.kept]))
    return ways
