"""A tab made from its views: the open choice, and the updates that show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gradio as gr

from explorer.bert.explorer import Explorer
from explorer.core.errors import CapabilityError, ExplorerError, InputError, logger
from explorer.export import links
from explorer.export.place import Place, tab_of
from explorer.page.components import Drawn, Notice, Pulse
from explorer.page.controls import default_of
from explorer.page.events import Inputs, Updates, Values, merge
from explorer.page.panel import STATIC, Panel
from explorer.ui.answers import changes_of, says_of
from explorer.ui.settings import Several
from explorer.ui.steppers import steppers_of, suggestion_of
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab
from explorer.ui.view import Finding as Found
from explorer.ui.view import View, Why, finding_of, open_on


@dataclass(eq=False)
class Choice:
    label: str
    column: gr.Column
    pulse: Pulse
    panels: list[Panel] = field(default_factory=list)

    @property
    def views(self) -> list[type[View]]:
        return [panel.view for panel in self.panels]

    @cached_property
    def finders(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.view.finding is not View.finding]

    def changes(self, method: str) -> bool:
        """Whether any of its views has this method of its own."""
        return any(getattr(view, method) is not getattr(View, method) for view in self.views)


@dataclass(eq=False)
class TabPage:
    tab: Tab
    inputs: Inputs
    steppers: Drawn  # in the bar and shared by all tabs, like
    says: Drawn  # the model's prediction,
    put_back: Drawn  # what is changed in the model,
    suggestion: Drawn  # the most telling layer and head, and
    address: gr.Textbox  # the query of the link to what is shown, and what the page's own requests carry besides
    item: gr.Tab
    body: gr.Column
    way_out: gr.Button | None  # of a tab that needs something of the model
    hint: Notice
    finding: Drawn
    which: gr.Radio | None = None
    controls: dict[str, gr.components.Component] = field(default_factory=dict)
    shared: dict[str, gr.Column] = field(default_factory=dict)  # around the controls of settings that several choices read
    above: list[Panel] = field(default_factory=list)
    choices: dict[str, Choice] = field(default_factory=dict)

    @cached_property
    def panels(self) -> list[Panel]:
        return [*self.above, *(panel for choice in self.choices.values() for panel in choice.panels)]

    def beside(self, *panels: Panel) -> list[Panel]:
        """The panels shown together with the given ones: those that a click or a setting there may change."""
        together = [choice.panels for choice in self.choices.values() if not set(panels).isdisjoint(choice.panels)]
        return [*self.above, *(panel for panels in together or [self.panels] for panel in panels)]

    def inputs_of(self, panels: Sequence[Panel]) -> list[gr.components.Component]:
        read = [control for panel in panels for control in [*panel.controls.values(), *panel.unasked]]
        return list(dict.fromkeys([*self.inputs.all, self.address, *([self.which] if self.which else []), *read]))

    def outputs_of(self, panels: Sequence[Panel]) -> list[Any]:
        columns = [choice.column for choice in self.choices.values() if not set(panels).isdisjoint(choice.panels)]
        asked = [panel.asked for panel in panels if panel.asked]
        return list(dict.fromkeys([*self.around, *columns, *asked, *(item for panel in panels for item in panel.outputs)]))

    @property
    def around(self) -> list[Any]:
        shared = [self.inputs.selection, self.steppers, self.says, self.put_back, self.suggestion, self.address]
        return [*shared, self.hint, self.finding]

    @property
    def all_inputs(self) -> list[gr.components.Component]:
        return self.inputs_of(self.panels)

    @property
    def frame(self) -> list[Any]:
        """The components around the views that showing the tab may change."""
        columns = [choice.column for choice in self.choices.values()]
        way_out = [self.way_out] if self.way_out else []
        return [self.body, *way_out, *self.shared.values(), *columns, *self.around]

    def is_for(self, model: Explorer) -> bool:
        needs = self.tab.needs if self.tab.optional else None
        return needs is None or bool(getattr(model.capabilities, needs))

    def open(self, values: Values) -> Choice:
        """The open choice; the first if the control names none."""
        chosen = values[self.which] if self.which else ""
        return self.choices.get(chosen) or next(iter(self.choices.values()))

    def complete(self, values: Values) -> Values:
        return {component: default_of(component) for component in self.all_inputs} | values

    def show(self, subject: Subject, values: Values) -> Updates:
        try:
            if self.tab.needs:
                subject.model.require(self.tab.needs)
        except CapabilityError as why:
            return {
                self.body: gr.Column(visible=False),
                self.way_out: gr.Button(visible=True),
                self.hint: str(why),
                self.steppers: [],
                self.suggestion: _if_any(None),
                **self.show_answers(subject, values),
                **self.follow(subject, values),
            }
        there: Updates = {self.body: gr.Column(visible=True)}
        there |= {self.way_out: gr.Button(visible=False)} if self.way_out else {}
        subject, opened = self.opening(subject, values), self.open(values)
        there[self.inputs.selection] = subject.selection
        there |= {choice.column: gr.Column(visible=choice is opened) for choice in self.choices.values()}
        read = {name for panel in opened.panels for name in panel.view.settings}
        there |= {column: gr.Column(visible=name in read) for name, column in self.shared.items()}
        answers = self.show_steppers(subject, values) | self.show_answers(subject, values)
        return {**there, **answers, **self.redraw(subject, values)}

    def opening(self, subject: Subject, values: Values) -> Subject:
        """The subject with the layer and head that the open choice starts with; a wrong one as it is, for the views say why."""
        if subject.chosen.picked:
            return subject
        try:
            return open_on([view() for view in self.open(values).views], subject)
        except ExplorerError:
            return subject

    def show_steppers(self, subject: Subject, values: Values) -> Updates:
        """The steppers for what is open, at the selected layer and head, with the suggestion beside them."""
        opened = self.open(values)
        names = () if opened.label in self.tab.without_steppers else self.tab.steppers
        steppers = steppers_of(subject, names)
        suggested = suggestion_of(subject, names, opened.changes("first")) if steppers else None
        return {self.steppers: steppers, self.suggestion: _if_any(suggested)}

    def show_answers(self, subject: Subject, values: Values) -> Updates:
        """The model's prediction in a sentence, and what is changed in the model."""
        left_out = any(view.shows_pictures() and not view.shows_changes for view in self.open(values).views)
        changes = changes_of(subject, left_out=left_out)  # some picture shows the run as it is
        return {self.says: says_of(subject), self.put_back: _if_any(changes)}

    def redraw(self, subject: Subject, values: Values, only: Sequence[Panel] | None = None, but: object = None) -> Updates:
        """Draw the open views, or some of them; the part `but` was clicked and is left as it is.

        A view may set a memory that the views after it read.
        """
        updates: Updates = {self.hint: ""}
        choice = self.open(values)
        if choice.changes("unless"):  # it may have hidden itself
            updates[choice.column] = gr.Column(visible=True)
        for panel in [*self.above, *choice.panels]:
            if (only is not None and panel not in only) or not panel.is_read_from(values):
                continue
            try:
                view = panel.read(values, subject)
                if why := view.unless(subject):
                    hidden = {choice.column: gr.Column(visible=False), self.hint: why}
                    return {**updates, **hidden, **self.show_finding(subject, values), **self.follow(subject, values)}
                shown = panel.show(subject, view, values, but)
                updates |= shown
                values = {**values, **{one: new for one, new in shown.items() if one in panel.memories}}
            except ExplorerError as error:
                updates[self.hint] = wrong(error, [panel], updates[self.hint])
        found = self._show_found(None) if isinstance(updates[self.hint], dict) else self.show_finding(subject, values)
        return {**updates, **found, **self.follow(subject, values)}

    def rest(self, subject: Subject, values: Values) -> Updates:
        """Draw what an immediate answer left out: the layer and head to start with, and the views that depend on them."""
        opened = self.opening(subject, values)
        if opened.selection != subject.selection:
            steppers = self.show_steppers(opened, values)
            return {self.inputs.selection: opened.selection, **steppers, **self.redraw(opened, values)}
        waiting = [panel for panel in self.open(values).panels if panel.view.prepare_rest is not View.prepare_rest]
        updates = self.redraw(opened, values, waiting)
        if not updates[self.hint]:
            del updates[self.hint]  # keeps another view's message
        return updates

    def place(self, subject: Subject, values: Values) -> Place:
        """The place that a link to the open choice describes; settings not among the values are taken from the previous link.

        Raises ExplorerError.
        """
        opened = self.open(values)
        panels, before = [*self.above, *opened.panels], dict[type[View], View]()
        if not all(panel.is_read_from(values) for panel in panels):
            linked = links.views_of(values.get(self.address) or "", self.tab, opened.label, subject.model.capabilities)
            before = {type(view): view for view in linked}
        shown = [panel.read(values, subject) if panel.is_read_from(values) else before[panel.view] for panel in panels]
        return Place(subject, self.tab.id, opened.label, tuple(shown))

    def follow(self, subject: Subject, values: Values) -> Updates:
        """The link's query, '' if the place does not fit into a link; unchanged while a setting is invalid."""
        try:
            place = self.place(subject, values)
        except ExplorerError:  # the view has shown the error
            return {}
        try:
            return {self.address: links.query_of_page(place)}
        except InputError:
            return {self.address: ""}

    def arrive(self, place: Place) -> Updates:
        updates: Updates = {self.which: place.choice} if self.which else {}
        views = {type(view): view for view in place.views}
        for panel in [*self.above, *self.choices[place.choice].panels]:
            view = views[panel.view]
            values = {component: getattr(view, name) for name, component in panel.controls.items()}
            settings = {component: view.settings[name] for name, component in panel.controls.items()}
            linked = [component for component, setting in settings.items() if setting.linked]
            set_to = {
                control: list(values[control]) if isinstance(settings[control], Several) else values[control]
                for control in linked
            }
            fitted = panel.fit(place.subject, view, values)
            updates = merge(updates, set_to, {control: fitted[control] for control in linked if control in fitted})
        return updates

    def why(self, subject: Subject, values: Values) -> Why | None:
        """Where the reason of the open choice's finding is seen: that of its first view with one."""
        finders = [panel for panel in self.open(values).finders if panel.is_read_from(values)]
        found = finding_of([panel.read(values, subject) for panel in finders], subject)
        return None if found is None else found.why

    def show_finding(self, subject: Subject, values: Values) -> Updates:
        """Show the finding; unchanged if the settings it depends on are not among the values."""
        finders = [*self.open(values).finders, *(panel for panel in self.above if panel.view.finding is not View.finding)]
        if not finders:
            return {self.finding: {"text": "", "none": True}}
        if not all(panel.is_read_from(values) for panel in finders):
            return {}
        try:
            found = finding_of([panel.read(values, subject) for panel in finders], subject)
            return {} if subject.later else self._show_found(found)
        except ExplorerError:  # the view has shown the error
            return self._show_found(None)
        except Exception:  # the picture is worth more than the sentence above it
            logger.exception("no finding in %s", self.tab.id)
            return self._show_found(None)

    def _show_found(self, found: Found | None) -> Updates:
        why = found and found.why
        return {self.finding: found and {"text": found.text, "why": why and f"{tab_of(why.tab).label}, {why.choice}"}}


def wrong(error: ExplorerError, panels: Sequence[Panel], before: Any = "") -> dict[str, Any]:
    """The hint that says why some panels show nothing, with the parts that another hint hid `before`."""
    hidden = before["hides"] if isinstance(before, dict) else []
    parts = [(part, panel.view.parts[name].kind) for panel in panels for name, part in panel.parts.items()]
    return {
        "text": str(error),
        "kind": "error",
        "hides": [*hidden, *(part.elem_id for part, kind in parts if kind not in STATIC)],
    }


def _if_any(value: object) -> Any:
    """A component shown with a value, or hidden without one."""
    return gr.update(value=value, visible=True) if value else gr.update(visible=False)
