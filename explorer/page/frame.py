"""The components around the tabs, and the tabs: what the page's listeners share."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.bert.explorer import Explorer
from explorer.core.errors import ExplorerError
from explorer.export.place import Place
from explorer.page.components import Drawn, Notice, Pulse, TokenRow
from explorer.page.events import Inputs, Updates, Values, merge, plain
from explorer.page.examples import ExampleBox, number_of
from explorer.page.models import ModelBox
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.tabs import FIRST_TAB
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject


@dataclass(frozen=True, eq=False)
class Shell:
    inputs: Inputs
    open_tab: gr.Textbox
    blanks: gr.State
    models: ModelBox
    examples: ExampleBox
    strip: TokenRow
    steppers: Drawn
    says: Drawn  # the model's prediction in a sentence
    put_back: Drawn  # what is changed in the model, each with a way back
    suggestion: Drawn  # the most telling layer and head of what is open
    notice: Notice
    given: gr.Textbox  # the texts of the place that a link leads to, for a script to put into the boxes
    told: gr.State  # what to say about a link once the page is drawn
    address: gr.Textbox  # the query of the link to what is shown
    tab_bar: gr.Tabs
    pulse: Pulse  # asks for a tab that is not built
    reader: Pulse  # asks for the texts to be read that an answer has put into the boxes
    tabs: dict[str, TabPage]

    @property
    def optional(self) -> list[TabPage]:
        return [tab for tab in self.tabs.values() if tab.tab.optional]

    @property
    def which_tabs(self) -> list[Any]:
        return [self.tab_bar, self.open_tab, *(tab.item for tab in self.optional)]

    def fitting(self, model: Explorer, open_tab: Any) -> Updates:
        """Show the tabs that a model has; if the open one is not among them, open the first."""
        updates: Updates = {tab.item: gr.Tab(visible=tab.is_for(model)) for tab in self.optional}
        if open_tab in self.tabs and not self.tabs[open_tab].is_for(model):
            updates |= {self.tab_bar: gr.Tabs(selected=FIRST_TAB), self.open_tab: FIRST_TAB}
        return updates

    def parts_that(self, does: type) -> list[tuple[TabPage, Panel, str]]:
        """The parts of which a click is answered by this type, with their tab and panel."""
        panels = [(tab, panel) for tab in self.tabs.values() for panel in tab.panels]
        return [(tab, panel, name) for tab, panel in panels for name in panel.view.parts if panel.view.does(name) is does]

    @property
    def kept(self) -> list[Any]:
        """The states kept in the browser for the tabs, which are there from the start."""
        return [
            control for tab in self.tabs.values() for control in tab.controls.values() if isinstance(control, gr.BrowserState)
        ]

    @property
    def of_a_place(self) -> list[Any]:
        bar = [self.inputs.model_name, self.models.box, self.models.known, self.models.recent, self.examples.box]
        # The texts come last: when they are heard of, everything else is set.
        return [*bar, self.told, *self.which_tabs, self.strip, self.notice, *self.settable, self.given]

    @property
    def settable(self) -> list[Any]:
        """What is set when the page goes to another tab: all controls, and the components around the views."""
        choices = [tab.which for tab in self.tabs.values() if tab.which]
        controls = [control for tab in self.tabs.values() for control in tab.controls.values()]
        return [*choices, *controls, *(component for tab in self.tabs.values() for component in tab.frame)]

    def arrive(self, place: Place, values: Values, is_built: bool) -> Updates:
        """Set everything as a link says, but for the texts.

        A built tab must be redrawn afterwards; another one is built with its picture.
        """
        subject = place.subject
        inputs = self.inputs
        updates: Updates = {inputs.selection: subject.chosen}
        updates |= {inputs.model_name: subject.model_name, **self.models.choosing(subject.model_name, values)}
        updates |= {self.examples.box: number_of(subject.text_a, subject.text_b)}
        updates |= {self.open_tab: place.tab, self.tab_bar: gr.Tabs(selected=place.tab), self.told: " ".join(place.told[:3])}
        tab = self.tabs[place.tab]
        set_so = tab.arrive(place)
        updates |= self.fitting(subject.model, place.tab)
        if is_built:
            return updates | set_so
        return merge(updates, self.build(tab, subject, values, set_so, updates.pop(self.told)))

    def build(self, tab: TabPage, subject: Subject, values: Values, set_so: Updates, told: str = "") -> Updates:
        """Build a tab with some controls set, the tokens above it, and the notice of a link.

        Only those `values` of the page that the browser keeps are used.
        """
        kept = {state: values[state] for state in self.kept}
        values = tab.complete(kept | {one: plain(value) for one, value in set_so.items()})
        return merge(set_so, self.read(subject, told), tab.show(subject, values))

    def read(self, subject: Subject, of_a_link: str) -> Updates:
        """The tokens, with the sentences about a link and how many tokens the model reads if not all; or why there are none."""
        try:
            kept, total = subject.trace.kept, subject.trace.encoding.total
            strip = token_row_of(subject.trace.encoding, subject.selection.token)
        except ExplorerError as error:
            return {self.notice: {"text": str(error), "kind": "error"}}
        cut = f"{kept} of {total} tokens kept: this model reads no more than {kept} at a time."
        return {self.strip: strip, self.notice: " ".join(filter(None, (of_a_link, cut if kept < total else "")))}
