"""A view on the page: its controls and parts, and how they get new values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import gradio as gr

from explorer.core.errors import ExplorerError
from explorer.core.steps import map_steps
from explorer.export.place import slug
from explorer.page import controls
from explorer.page.components import Drawn, Notice
from explorer.page.events import Updates, Values, merge
from explorer.ui.layout import LayoutRow, arrange
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import meter
from explorer.ui.settings import Memory, Setting, Sheet, Switch, Text, Upload
from explorer.ui.subject import Subject
from explorer.ui.view import MARKDOWN, Part, View, props

STATIC = (*MARKDOWN, "button")


@dataclass(eq=False)
class Work:
    """The buttons and progress of long work. Automatic work has a meter, and its view's own button to stop it."""

    start: gr.Button | None
    stop: gr.Button
    status: Notice | Drawn

    def show(self, status: str = "", *, start: bool = False, stop: bool = False) -> Updates:
        if self.start is None:
            return {self.stop: gr.update(visible=stop), self.status: None}
        return {self.start: gr.update(visible=start), self.stop: gr.update(visible=stop), self.status: status}

    def tell(self, step: Any) -> Any:
        """Show the progress: a share, 0 to 1, or a sentence and a share."""
        text, share = step if isinstance(step, tuple) else (f"{step:.0%} done.", step)
        return text if self.start else meter(text, share)


@dataclass(eq=False)
class Panel:
    """One view and its components; views of a tab share `controls` of the same name."""

    view: type[View]
    controls: dict[str, gr.components.Component] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    work: Work | None = None
    asked: gr.State | None = None  # the key of work that starts by itself; its change starts the work

    @property
    def doing(self) -> Work:
        """What is seen of its long work. Raises ValueError where there is none."""
        if self.work is None:
            raise ValueError(f"{self.view.name} has no long work")
        return self.work

    @cached_property
    def memories(self) -> list[gr.components.Component]:
        return [control for name, control in self.controls.items() if isinstance(self.view.settings[name], Memory)]

    @property
    def outputs(self) -> list[Any]:
        boxes = [control.box for control in self.controls.values() if hasattr(control, "box")]
        own = [part for name, part in self.parts.items() if self.view.parts[name].kind not in MARKDOWN]
        work = [self.work.stop, self.work.status, self.work.start] if self.work else []
        return [component for component in (*self.controls.values(), *boxes, *own, *work) if component is not None]

    def is_read_from(self, values: Values) -> bool:
        """Whether the values hold all its controls: another choice may be open than the one that was clicked in."""
        return set(self.controls.values()) <= values.keys()

    def read(self, values: Values, subject: Subject) -> Any:
        """The view with the settings on the page. Raises InputError."""
        given = {name: values[component] for name, component in self.controls.items()}
        return self.view.read(given, subject.model.capabilities)

    def show(self, subject: Subject, view: View, values: Values, but: object = None) -> Updates:
        """The updates that show this view; the part `but` already shows what was clicked in it, and is left out."""
        fitted = self.fit(subject, view, values)
        if isinstance(view, LongView):
            return merge(fitted, self._show_long(subject, view, values))
        return merge(fitted, self.updates(view.compute(subject), but))

    def fit(self, subject: Subject, view: View, values: Values) -> Updates:
        """The updates of controls that depend on the model or on other settings."""
        updates: Updates = {}
        for name in [name for name, setting in self.view.settings.items() if setting.depends]:
            component = self.controls[name]
            if changed := controls.fit(view, name, values[component], subject.model.capabilities):
                updates[getattr(component, "box", component)] = gr.update(**changed)
        return updates

    def updates(self, shown: Mapping[str, Any], but: object = None, only_these: bool = False) -> Updates:
        """The updates for a view's content; with `only_these`, optional parts without content are not hidden."""
        updates: Updates = {}
        for name, value in shown.items():
            component = self.parts.get(name) or self.controls[name]
            if component is but and self.view.parts[name].marks:
                continue
            updates[getattr(component, "box", component)] = _update(self.view.parts.get(name), value)
        for name, part in self.view.parts.items():
            if part.optional and name not in shown and not only_these:
                updates[self.parts[name]] = gr.update(visible=False)
        return updates

    def _show_long(self, subject: Subject, view: LongView, values: Values) -> Updates:
        if not view.start:  # the work starts when this state changes
            if not values.get(self.asked):  # none is running that could end later
                with suppress(ExplorerError):  # the work will tell it
                    if (found := view.at_once(subject)) is not None:
                        return self.updates(view.waiting(subject)) | self.updates(view.draw(subject, found)) | self.doing.show()
            asked = view.key(subject)
            idle = self.doing.show() if asked is None else {}
            return {self.asked: asked} | self.updates(view.waiting(subject)) | idle
        found = view.known(subject)
        if found is not None:
            return self.updates(view.draw(subject, found)) | self.doing.show()
        passes = view.passes(subject)
        long = f"about as long as {round(passes):,} runs of the model" if passes < 1e6 else "a while"
        return self.updates(view.waiting(subject)) | self.doing.show(f"This takes {long}. Press the button to start.", start=True)

    def run(self, subject: Subject, view: LongView) -> Iterator[Updates]:
        work = self.doing
        steps = map_steps(view.work(subject), lambda step: {work.status: work.tell(step)})
        try:
            yield work.show("", stop=True)
            found = yield from steps
        except ExplorerError:
            yield work.show("", start=True) | self.unasked
            raise
        if view.start:
            view.keep(subject, found)
        yield self.updates(view.draw(subject, found)) | work.show()
        view.prepare()

    @property
    def unasked(self) -> Updates:
        """Reset the key of automatic work, so that the same work can start again."""
        return {self.asked: None} if self.asked else {}


def _update(part: Part | None, value: object) -> Any:
    value = value() if callable(value) and not isinstance(value, props) else value
    if isinstance(value, props):
        return gr.update(**value)
    return gr.update(value=value, visible=True) if part is not None and part.optional else value


def fold(title: str, elem_id: str, make: Callable[[], Any]) -> None:
    """Content folded away under a title; `make` makes the components inside."""
    with gr.Accordion(title, open=False, elem_id=elem_id):
        make()


@dataclass
class Builder:
    """Makes the components of a view in the current Gradio context; `known` are the tab's controls so far, by name.

    With `with_toggle`, a button 'How is this made?' comes before the first caption or check. What makes folded content is
    appended to `folds`, to be called below the choice's pictures.
    """

    panel: Panel
    known: dict[str, gr.components.Component]
    tab: str
    folds: list[Callable[[], None]] = field(default_factory=list)
    with_toggle: bool = True

    def build(self) -> Panel:
        view, made = self.panel.view, self.panel
        self._build(arrange(view.names, view.layout))
        if issubclass(view, LongView) and not view.start:
            made.asked, made.work = gr.State(None), Work(None, made.parts["stop"], made.parts["progress"])
        return made

    def _build(self, items: Sequence[str | LayoutRow]) -> None:
        """Build from top to bottom; names with `more` go into one fold."""
        view = self.panel.view
        names = [item for item in items if isinstance(item, str)]
        folded = [name for name in names if _declared(view, name).more and getattr(_declared(view, name), "here", True)]
        if folded:
            self.folds.append(partial(fold, view.fold, f"{slug(view.name)}-more", partial(self._build_lines, folded)))
        for kind, run in groupby(items, key=lambda item: item if isinstance(item, LayoutRow) else kind_of(view, item)):
            if isinstance(kind, LayoutRow):
                self._build_row(kind)
            elif kind != "more":
                self._build_names([item for item in run if isinstance(item, str)], kind)

    def _build_row(self, row: LayoutRow) -> None:
        with gr.Row(elem_classes="overview-detail") if row.columns else gr.Row(equal_height=True):
            for item in row.items:
                if isinstance(item, str):
                    self._make(item)
                else:
                    with gr.Column(scale=item.width, min_width=300):
                        self._build(item.items)

    def _build_lines(self, names: Sequence[str]) -> None:
        """Build folded content: settings in rows; a new row begins for another kind, or where a setting asks for a `line`."""
        lines: list[tuple[type[Part | Switch | Setting], list[str]]] = []
        for name in names:
            declared = _declared(self.panel.view, name)
            kind = next(kind for kind in (Part, Switch, Setting) if isinstance(declared, kind))
            if lines and kind is lines[-1][0] and isinstance(declared, Setting) and not declared.look.get("line"):
                lines[-1][1].append(name)
            else:
                lines.append((kind, [name]))
        for kind, line in lines:
            with gr.Row(elem_classes="controls") if kind is Switch else gr.Row() if len(line) > 1 else nullcontext():
                for name in line:
                    self._make(name)

    def _build_names(self, names: Sequence[str], kind: str) -> None:
        """Build neighbours outside the rows of the layout: controls and buttons in one line, the rest below each other."""
        with gr.Row(elem_classes="controls") if kind == "row" and self._in_row(names) else nullcontext():
            for name in names:
                self._make(name)

    def _in_row(self, names: Sequence[str]) -> bool:
        seen = [name for name in names if not isinstance(_declared(self.panel.view, name), Memory)]
        return len(seen) > 1 or any(name in self.panel.view.parts for name in seen)

    def _make(self, name: str) -> None:
        view, made = self.panel.view, self.panel
        declared = _declared(view, name)
        if isinstance(declared, Part):
            if controls.is_made(declared) and self.with_toggle:
                gr.Button("How is this made?", elem_classes="how-toggle", size="sm", min_width=0)
                self.with_toggle = False
            if made.work is None and issubclass(view, LongView) and view.start and declared.kind not in STATIC:
                made.work = _work(view.start, slug(view.name))
            made.parts[name] = controls.make_part(declared, f"{slug(view.name)}-{slug(name)}")
        elif declared.here and name not in self.known:
            self.known[name] = make_control(view, name, self.tab)


def _work(label: str, name: str) -> Work:
    with gr.Row(elem_classes="controls"):
        start = gr.Button(label, size="sm", visible=False, elem_id=f"{name}-start")
        stop = gr.Button("Stop", size="sm", visible=False, elem_id=f"{name}-stop")
        return Work(start, stop, Notice(elem_id=f"{name}-status"))


def _declared(view: type[View], name: str) -> Setting | Part:
    return view.parts[name] if name in view.parts else view.settings[name]


def kind_of(view: type[View], name: str) -> str:
    """Where a name goes that is in no row of the layout: "row" with its neighbours, "wide" on its own, "more" in the fold."""
    declared = _declared(view, name)
    if declared.more:
        return "more"
    if isinstance(declared, Part):
        return "row" if declared.kind == "button" and not declared.options.get("wide") else "wide"
    if isinstance(declared, Text) and "inline" in declared.look.get("elem_classes", ""):
        return "row"
    return "wide" if isinstance(declared, Text | Sheet | Upload) else "row"


def make_control(view: type[View], name: str, tab: str) -> gr.components.Component:
    """The control of a setting; its element id begins with the tab's."""
    setting, default = view.settings[name], view.__dataclass_fields__[name].default
    return controls.control(setting, default if setting.fresh is None else setting.fresh, f"{tab}-{slug(name)}")
