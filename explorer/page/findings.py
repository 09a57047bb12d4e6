"""The way from a finding to where its reason is seen."""

from collections.abc import Callable, Mapping

import gradio as gr

from explorer.page.events import Inputs, Updates, Values, run
from explorer.page.tab import TabPage


def listen(
    inputs: Inputs, open_tab: gr.Textbox, tab_bar: gr.Tabs, tabs: Mapping[str, TabPage], opened: Callable[[Values], TabPage]
) -> gr.events.Dependency:
    """Let 'see why' go to the tab, choice, selection and settings that the finding names; the page is to be drawn after it.

    `opened(values)` is the tab that is open. The finding is made once more here, since a browser may say anything.
    """
    pages = list(tabs.values())
    finders = [panel for tab in pages for choice in tab.choices.values() for panel in choice.finders]
    choices = [tab.which for tab in pages if tab.which]

    def go(values: Values) -> Updates:
        here = opened(values)
        subject = here.opening(inputs.subject(values), values)  # the page may have just been sent, with nothing selected yet
        found = here.find(subject, values)
        if found is None or found.why is None:
            return {open_tab: gr.skip()}  # Gradio refuses an empty answer
        why, target = found.why, tabs[found.why.tab]
        updates: Updates = {open_tab: target.tab.id, tab_bar: gr.Tabs(selected=target.tab.id)}
        updates |= {inputs.selection: subject.select(**why.selection).selection} if why.selection else {}
        updates |= {target.which: why.choice} if target.which else {}
        return updates | {target.controls[name]: value for name, value in why.settings.items()}

    outputs = [open_tab, tab_bar, inputs.selection, *choices, *(control for tab in pages for control in tab.controls.values())]
    read = [control for panel in finders for control in panel.controls.values()]
    return run([tab.finding.select for tab in pages if tab.finds], go, outputs, [*inputs.all, open_tab, *choices, *read])
