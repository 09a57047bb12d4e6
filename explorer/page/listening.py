"""The event listeners of a tab, made from its views: controls, clicks, buttons, files, and long work."""

import inspect
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, get_origin

import gradio as gr

from explorer.core.scheduling import LONG_WORK, MAPPING, MODEL, TRAINING, Kind
from explorer.core.steps import map_steps
from explorer.page import controls
from explorer.page.components import Drawn
from explorer.page.events import Triggers, Updates, Values, merge, run, then, typed_in
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.ui.long_view import LongView
from explorer.ui.settings import Memory, Sheet, Text, Upload
from explorer.ui.subject import CHANGES, Subject
from explorer.ui.view import Change, Content, NewInput, OpenModel, Why, props, takes_customdata


def listen(tab: TabPage, built: Callable) -> None:
    """Add all listeners of a tab, but for what concerns others: a `Why` and an `OpenModel`.

    `built` registers a listener for the moment when the browser has built the tab.
    """
    _listen_to_controls(tab)
    for panel in tab.panels:
        streams = []
        for name in panel.view.parts:
            does = panel.view.does(name)
            if does is NewInput:
                _listen_to_reading(tab, panel, name)
            elif does not in (None, Why, OpenModel):
                streams.append(_listen_to_part(tab, panel, name))
            component = panel.parts[name]
            for event in component.component.events if isinstance(component, Drawn) else ():
                if hasattr(panel.view, f"on_{name}_{event}"):
                    _listen_to_clicks(tab, panel, getattr(component, event), f"{name}_{event}")
        if issubclass(panel.view, LongView):
            _listen_to_work(tab, panel, [stream for stream in streams if stream], built)


def _listen_to_controls(tab: TabPage) -> None:
    """Redraw the views that read a control when it changes, or do what a view's `on_<name>` says.

    Controls that the same views read share a listener.
    """
    together = defaultdict(list)
    for name, component in tab.controls.items():
        readers = tuple(panel for panel in tab.panels if name in panel.controls)
        setting = readers[0].view.settings[name]
        events = setting.look.get("heard", "change" if isinstance(setting, Text) else "input")
        if isinstance(setting, Memory | Sheet) or not events:  # clicks write a memory, and a sheet has a button
            continue
        panel = next((panel for panel in readers if name in panel.view.listens_to()), None)
        if panel is None and not isinstance(setting, Upload):
            together[readers, events, isinstance(component, gr.Dropdown)].append(component)
            continue
        triggers, options = _uploaded(component, setting) if isinstance(setting, Upload) else _heard([component], events)
        if panel is None:
            _redraw_after(tab, readers, triggers, options)
        elif inspect.isgeneratorfunction(getattr(panel.view, f"on_{name}")):
            _listen_to_stream(tab, panel, name, triggers, options)
        else:
            touched = tab.beside(*readers)
            run(triggers, _answering(tab, panel, name), tab.outputs_of(touched), tab.inputs_of(touched), **options)
    for (readers, events, _), components in together.items():
        _redraw_after(tab, readers, *_heard(components, events))


def _redraw_after(tab: TabPage, readers: Sequence[Panel], triggers: Triggers, options: dict[str, Any]) -> None:
    def redraw(values: Values) -> Updates:
        return tab.redraw(tab.inputs.subject(values), values, readers)

    run(triggers, redraw, tab.outputs_of(readers), tab.inputs_of(readers), **options)


def _listen_to_stream(tab: TabPage, panel: Panel, name: str, triggers: Triggers, options: dict[str, Any]) -> gr.events.Dependency:
    """Show step by step what a view's generator `on_<name>` yields, then what its Change says, on the page as it is by then."""
    ending = gr.State(None)  # the Change

    def seen(subject: Subject, values: Values) -> Updates:
        return {**tab.show_finding(subject, values), **tab.follow(subject, values)}

    def stream(values: Values) -> Iterator[Updates]:
        subject = tab.inputs.subject(values)
        view = panel.read(values, subject)
        if panel.asked:  # what follows is no longer the result of the work that was started
            yield panel.unasked

        def step(shown: Content) -> Updates:
            nonlocal values
            own = {one: new for one, new in shown.items() if one in panel.controls and not isinstance(new, props)}
            values = {**values, **{panel.controls[one]: new for one, new in own.items()}}
            theirs = {one: new for one, new in shown.items() if one in beside}
            updates = panel.updates({one: new for one, new in shown.items() if one not in theirs}, only_these=True)
            for one, new in theirs.items():
                updates |= beside[one].updates({one: new}, only_these=True)
            return {**updates, **(seen(subject, values) if own else {})}

        steps = getattr(view, f"on_{name}")(subject, getattr(view, name) if name in view.settings else None)
        change = yield from map_steps(steps, step)
        if change is not None:
            yield {ending: change}

    def end(values: Values) -> Updates:
        if values[ending] is None:  # of another page, or already applied
            return {}
        return {ending: None, **apply(tab, panel, tab.inputs.subject(values), values, values[ending])}

    def said(when: str) -> Callable[[Values], Updates]:
        def show(values: Values) -> Updates:
            return panel.updates(getattr(panel.read(values, tab.inputs.subject(values)), f"{when}_{name}")(), only_these=True)

        return show

    beside = {part: other for other in tab.panels if other.view in panel.view.redraws for part in other.parts}
    options = _kind_of(panel, name) | options
    begins = hasattr(panel.view, f"begin_{name}")
    if begins:
        triggers = run(triggers, said("begin"), panel.outputs, tab.inputs_of([panel]), queue=False).then
        options |= {"trigger_mode": "once"}  # a second click meanwhile is ignored
    event = run(triggers, stream, [*tab.outputs_of([panel, *beside.values()]), ending], tab.inputs_of([panel]), **options)
    if begins:
        run(event.failure, said("fail"), panel.outputs, tab.inputs_of([panel]), queue=False)
    if get_origin(panel.view.does(name)) is Generator:
        run(event.success, end, [*tab.frame, *tab.outputs_of(tab.panels), ending], [*tab.all_inputs, ending])
    else:
        _tell_after(tab, panel, event)
    return event


def _kind_of(panel: Panel, name: str) -> Kind:
    method = getattr(panel.view, f"on_{name}")
    long = MAPPING if panel.asked else TRAINING
    return getattr(method, "kind", long if inspect.isgeneratorfunction(method) else MODEL)


def _heard(components: Sequence[Any], events: str) -> tuple[Triggers, dict[str, Any]]:
    triggers = [getattr(component, event) for component in components for event in events.split()]
    return triggers, typed_in(*components) if events == "change" else {}


def _uploaded(component: Any, setting: Upload) -> tuple[Triggers, dict[str, Any]]:
    """The moment when an uploaded file was read into its state."""
    box = component.box
    event = box.upload if isinstance(box, gr.UploadButton) else box.change
    read = run([event], lambda values: {component: controls.read_upload(setting, values[box])}, [component], [box])
    return read.success, {}


def _listen_to_part(tab: TabPage, panel: Panel, name: str) -> gr.events.Dependency | None:
    """Handle a click on a part or a button by the view's `on_<name>`.

    Returns the event if it streams, so that it can be stopped.
    """
    component = panel.parts[name]
    if panel.view.parts[name].kind != "button":
        _listen_to_clicks(tab, panel, [component.select], name, component)
        return None
    if inspect.isgeneratorfunction(getattr(panel.view, f"on_{name}")):
        return _listen_to_stream(tab, panel, name, [component.click], {})
    kind, touched = _kind_of(panel, name), tab.beside(panel)
    answer = _answering(tab, panel, name, component)
    event = run([component.click], answer, tab.outputs_of(touched), tab.inputs_of(touched), **kind)
    if kind in LONG_WORK:
        _tell_after(tab, panel, event)
    return None


def _listen_to_reading(tab: TabPage, panel: Panel, name: str) -> None:
    """A click that puts other texts into the page, which are then read."""
    inputs = tab.inputs

    def read(values: Values, event: gr.SelectData) -> Updates:
        subject = tab.opening(inputs.subject(values), values)
        new = getattr(panel.read(values, subject), f"on_{name}")(subject, event.index)
        chosen = replace(subject.selection, **{**CHANGES, **new.selection})
        return dict(zip(outputs, (*new.texts, chosen), strict=True))

    outputs = [inputs.text_a, inputs.text_b, inputs.selection]
    then(run([panel.parts[name].select], read, outputs, tab.inputs_of([panel])), "read")


def _listen_to_clicks(tab: TabPage, panel: Panel, triggers: Triggers, name: str, clicked: object = None) -> None:
    answer = _answering(tab, panel, name, clicked)
    by_customdata = takes_customdata(getattr(panel.view, f"on_{name}"))

    def click(values: Values, event: gr.SelectData) -> Updates:
        return answer(values, getattr(event, "customdata", None) if by_customdata else event.index)

    touched = tab.beside(panel)
    run(triggers, click, tab.outputs_of(touched), tab.inputs_of(touched))


def _answering(tab: TabPage, panel: Panel, name: str, clicked: object = None) -> Callable[..., Updates]:
    """A handler that applies what a view's `on_<name>` returns for a setting's value or an index; `clicked` shows it already."""

    def answer(values: Values, index: object = None) -> Updates:
        subject = tab.opening(tab.inputs.subject(values), values)  # a page just sent shows a layer and head, none selected
        view = panel.read(values, subject)
        set_so = {name: getattr(view, name)} if name in view.settings else {}
        change = getattr(view, f"on_{name}")(subject, set_so.get(name, index))
        return apply(tab, panel, subject, values, replace(change, settings={**set_so, **change.settings}), clicked)

    return answer


def apply(tab: TabPage, panel: Panel, subject: Subject, values: Values, change: Change, clicked: object = None) -> Updates:
    """The updates for a Change. After a new selection, a view that returned its own content is not drawn again."""
    updates = {tab.controls[name]: value for name, value in change.settings.items()}
    # A value that the control has already is not sent: the user may have typed on meanwhile.
    updates = {one: value for one, value in updates.items() if one not in values or values[one] != value}
    values = {**values, **updates}
    if change.selection:
        subject = subject.select(**change.selection)
        updates |= {tab.inputs.selection: subject.selection, **tab.show_steppers(subject, values)}
        drawn = [other for other in tab.panels if not (change.content and other is panel)]
        if change.selection.keys() <= CHANGES.keys():
            drawn = [other for other in drawn if other.view.shows_changes]
        if not change.selection.keys() <= {"layer", "head"}:  # on which no answer depends
            updates |= tab.show_answers(subject, values)
        updates = merge(updates, tab.redraw(subject, values, drawn, clicked))
    elif change.settings:
        readers = [other for other in tab.panels if not other.controls.keys().isdisjoint(change.settings)]
        if change.is_drawn and readers == [panel]:  # only the link is another
            return merge(updates, tab.follow(subject, values), panel.updates(change.content, only_these=True))
        updates = merge(updates, tab.redraw(subject, values, readers, clicked))
    return merge(updates, panel.updates(change.content, only_these=True))


def _listen_to_work(tab: TabPage, panel: Panel, streams: Sequence[gr.events.Dependency], built: Callable) -> None:
    """Start and stop long work and show its progress; work without a start button runs when its key changes.

    Stopping it also stops the view's other streams.
    """

    def work(values: Values) -> Iterator[Updates]:
        if panel.asked and not values[panel.asked]:  # a page that has just been opened fires `change` too
            yield panel.doing.show()  # Gradio empties every output of a generator that yields nothing
            panel.read(values, tab.inputs.subject(values)).prepare()
            return
        subject = tab.inputs.subject(values)
        yield from panel.run(subject, panel.read(values, subject))

    # For a moment after a stop, Gradio takes the work for running, and would ignore a new start.
    begin = {**TRAINING, "trigger_mode": "multiple"}
    # The browser does not hear of states that change in the answer that builds their part of the page.
    start = panel.doing.start
    triggers = [*([panel.asked.change, built] if panel.asked else []), *([] if start is None else [start.click])]
    options = MAPPING if panel.asked else begin
    outputs = [*panel.outputs, *panel.unasked]
    running = run(triggers, work, outputs, tab.inputs_of([panel]), **options)
    _tell_after(tab, panel, running)
    cancelled = panel.doing.stop.click(None, cancels=[running, *streams], api_visibility="private")
    # Afterwards, not together: the last progress update is still on its way.
    run(cancelled.then, lambda values: panel.doing.show("Stopped.", start=True) | panel.unasked, outputs)


def _tell_after(tab: TabPage, panel: Panel, work: gr.events.Dependency) -> None:
    """Show the finding after long work: that of the choice open by then, which may be another one."""

    def tell(values: Values) -> Updates:
        return tab.show_finding(tab.inputs.subject(values), values)

    run(work.success, tell, [tab.finding], tab.inputs_of([panel]))
