"""What stands around the tabs, and the tabs: what every part of the page may speak to."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.outlets.links import Place
from explorer.page.components import Notice, Steppers, TokenRow
from explorer.page.events import Inputs, Updates, Values
from explorer.page.examples import ExampleBox
from explorer.page.models import ModelBox
from explorer.page.tab import TabPage
from explorer.views import FIRST_TAB


@dataclass(frozen=True, eq=False)
class Shell:
    """The components around the tabs, and the tabs by their ids."""

    inputs: Inputs
    open_tab: gr.Textbox
    blanks: gr.State
    models: ModelBox
    examples: ExampleBox
    strip: TokenRow
    steppers: Steppers
    notice: Notice
    told: gr.State  # what is to be told of a link once the page is drawn
    address: gr.Textbox  # the query of the link to what is seen
    tab_bar: gr.Tabs
    tabs: dict[str, TabPage]

    @property
    def optional(self) -> list[TabPage]:
        """The tabs that are not there for every model."""
        return [tab for tab in self.tabs.values() if tab.tab.optional]

    @property
    def which_tabs(self) -> list[Any]:
        """What `fitting` may change."""
        return [self.tab_bar, self.open_tab, *(tab.item for tab in self.optional)]

    def fitting(self, model: Any, open_tab: Any) -> Updates:
        """The tabs that are there for a model; where the one that is open is not, the first is opened."""
        updates: Updates = {tab.item: gr.Tab(visible=tab.is_for(model)) for tab in self.optional}
        if open_tab in self.tabs and not self.tabs[open_tab].is_for(model):
            updates |= {self.tab_bar: gr.Tabs(selected=FIRST_TAB), self.open_tab: FIRST_TAB}
        return updates

    def opened(self, values: Values) -> TabPage:
        """The tab that is open."""
        return self.tabs.get(values[self.open_tab]) or self.tabs[FIRST_TAB]

    @property
    def of_a_place(self) -> list[Any]:
        """What `arrive` may change."""
        choices = [tab.which for tab in self.tabs.values() if tab.which]
        controls = [control for tab in self.tabs.values() for control in tab.controls.values()]
        models = [self.models.box, self.models.known, self.models.recent]
        return [*self.inputs.all, *models, self.told, *self.which_tabs, *choices, *controls]

    def arrive(self, place: Place, values: Values) -> Updates:
        """Everything set as a link says; the page is to be drawn after it."""
        subject = place.subject
        inputs = self.inputs
        updates: Updates = {inputs.text_a: subject.text_a, inputs.text_b: subject.text_b, inputs.selection: subject.chosen}
        updates |= {inputs.model_name: subject.model_name, **self.models.choosing(subject.model_name, values)}
        updates |= {self.open_tab: place.tab, self.tab_bar: gr.Tabs(selected=place.tab), self.told: " ".join(place.told[:3])}
        return updates | self.tabs[place.tab].arrive(place) | self.fitting(subject.model, place.tab)
