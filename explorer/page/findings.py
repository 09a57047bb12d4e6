"""The way from a finding, or from a button, to where its reason is seen."""

from collections.abc import Callable, Mapping

import gradio as gr

from explorer.page.events import Inputs, Updates, Values, run
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.views.subject import Subject
from explorer.views.view import Why


def listen(
    inputs: Inputs, open_tab: gr.Textbox, tab_bar: gr.Tabs, tabs: Mapping[str, TabPage], opened: Callable[[Values], TabPage]
) -> list[gr.events.Dependency]:
    """Let 'see why', and what `leads`, go to the tab, choice, selection and settings that are named.

    The page is to be drawn after each of the events. `opened(values)` is the tab that is open. A finding is made once more
    here, since a browser may say anything.
    """
    pages = list(tabs.values())
    choices = [tab.which for tab in pages if tab.which]
    outputs = [open_tab, tab_bar, inputs.selection, *choices, *(control for tab in pages for control in tab.controls.values())]

    def go(subject: Subject, why: Why | None) -> Updates:
        if why is None:
            return {open_tab: gr.skip()}  # Gradio refuses an empty answer
        target = tabs[why.tab]
        updates: Updates = {open_tab: target.tab.id, tab_bar: gr.Tabs(selected=target.tab.id)}
        updates |= {inputs.selection: subject.select(**why.selection).selection} if why.selection else {}
        updates |= {target.which: why.choice} if target.which else {}
        return updates | {target.controls[name]: value for name, value in why.settings.items()}

    def see_why(values: Values) -> Updates:
        here = opened(values)
        subject = here.opening(inputs.subject(values), values)  # the page may have just been sent, with nothing selected yet
        found = here.find(subject, values)
        return go(subject, found and found.why)

    def leading(tab: TabPage, panel: Panel, name: str) -> Callable[[Values], Updates]:
        def lead(values: Values) -> Updates:
            subject = tab.opening(inputs.subject(values), values)
            return go(subject, getattr(panel.read(values, subject), f"on_{name}")(subject, None))

        return lead

    finders = [panel for tab in pages for choice in tab.choices.values() for panel in choice.finders]
    read = [control for panel in finders for control in panel.controls.values()]
    told = [tab.finding.select for tab in pages if tab.finds]
    ways = [run(told, see_why, outputs, [*inputs.all, open_tab, *choices, *read])]
    for page, panel in [(one, panel) for one in pages for panel in one.panels]:
        for name in [name for name, part in panel.view.parts.items() if part.leads]:
            ways.append(run([panel.parts[name].click], leading(page, panel, name), outputs, page.all_inputs))
    return ways
