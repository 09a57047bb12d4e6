"""Make the components of a tab, and the navigation to every view: sections above the tabs, and the searchable list."""

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gradio as gr

from explorer.export.place import slug
from explorer.page.components import Drawn, Finding, More, Notice, Pulse
from explorer.page.controls import ANSWER, is_made
from explorer.page.events import Inputs
from explorer.page.panel import Builder, Panel, fold, make_control
from explorer.page.tab import Choice, TabPage
from explorer.tabs import SECTIONS, TABS
from explorer.ui.tabs import Cell, Tab, views_in
from explorer.ui.view import View


def build_tab(tab: Tab, inputs: Inputs, around: tuple[Drawn, Drawn, Drawn, Drawn], address: gr.Textbox) -> TabPage:
    """Make the components of a tab in the current Gradio context; `around` are the components that all tabs share."""
    with gr.Tab(tab.label, id=tab.id, elem_id=f"tab-{tab.id}", visible=not tab.optional) as item:
        labels = list(tab.choices)
        with gr.Row(elem_classes="question"):
            asked = "".join(f"<span>{question}</span>" for question in tab.questions.values())  # the style sheet shows one
            gr.Markdown(f"## {asked}", elem_id=f"{tab.id}-question")
            look = {"show_label": False, "label": tab.question, "container": False, "elem_id": f"{tab.id}-view"}
            look |= {"elem_classes": ["choices", f"first-{tab.in_sight}"]}
            which = gr.Radio(labels, value=labels[0], **look) if len(labels) > 1 else None
            if tab.behind_more:
                More({"of": f"{tab.id}-view", "choices": tab.behind_more}, elem_id=f"{tab.id}-rest")
        pulses = {label: Pulse(name=f"{tab.id}/{label}") for label in labels}  # here: a hidden component hears nothing
        hint = Notice(elem_id=f"{tab.id}-hint")
        other_model = {"visible": False, "size": "sm", "elem_classes": "way-out"}
        way_out = gr.Button("Use the bundled model", **other_model) if tab.needs else None
        with gr.Column(elem_classes=["view", f"of-{tab.id}"]) as body:
            finding = Finding(elem_id=f"{tab.id}-finding", elem_classes=ANSWER)
            made = TabPage(tab, inputs, *around, address, item, body, way_out, hint, finding, which)
            made.above = [Builder(Panel(view), made.controls, tab.id).build() for view in tab.above]  # which fold nothing
            _build_shared(made, () if tab.reads_texts else tab.shared)
            with gr.Column(render=False) as below:
                _build_shared(made, tab.shared if tab.reads_texts else ())
            for label, rows in tab.choices.items():
                made.choices[label] = _build_choice(made, label, rows, pulses[label])
            if below.children:
                below.render()
            if tab.note:
                gr.Markdown(tab.note, elem_classes="caption")
    for panel in made.panels:
        panel.controls = {name: made.controls[name] for name in panel.view.settings}
    return made


def sections() -> dict[str, Any]:
    """The component's value: the `sections` with their tabs' ids, and the tabs that do not read the two texts."""
    found = [{"label": label, "tabs": [tab.id for tab in tabs]} for label, tabs in SECTIONS.items()]
    return {"sections": found, "without_texts": [tab.id for tab in TABS if not tab.reads_texts]}


def section_style() -> str:
    """A style sheet that shows only the tabs of the open section, the body's `data-section`, and the open choice's question."""
    places = range(1, 1 + max(len(tab.choices) for tab in TABS))
    asked = (f".question:has(.choices label:nth-of-type({one}) :checked) h2 > span:nth-child({one})" for one in places)
    rules = [f"{', '.join(asked)} {{ --shown: inline; --seen: visible; }}"]
    for number, tabs in enumerate(SECTIONS.values()):
        opened = f'body[data-section="{number}"]'
        own = ", ".join(f"#tab-{tab.id}-button" for tab in tabs)
        rules.append(f"{opened} #tabs [role=tab]:not({own}) {{ display: none; }}")
        if len(tabs) == 1:
            rules.append(f"{opened}:not([data-arriving]) #tabs .tab-container {{ display: none; }}")
    return "\n".join(rules)


def _build_shared(made: TabPage, lines: Sequence[Sequence[str]]) -> None:
    """Place the controls of settings that several choices read, shown where they are needed."""
    first = {name for view in views_in(next(iter(made.tab.choices.values()))) for name in view.settings}
    declared = {name: view for view in made.tab.views for name in view.settings}
    for line in lines:
        with gr.Row() if len(line) > 1 else contextlib.nullcontext():
            for name in line:
                with gr.Column(visible=name in first, min_width=240) as made.shared[name]:
                    made.controls[name] = make_control(declared[name], name, made.tab.id)


def _build_choice(made: TabPage, label: str, rows: Sequence[Sequence[Cell]], pulse: Pulse) -> Choice:
    with gr.Column(visible=label == next(iter(made.tab.choices)), elem_classes="part") as column:
        choice, folds = Choice(label, column, pulse), list[Callable[[], None]]()
        for row in rows:
            cells = [views_in([[cell]]) for cell in row]
            if len(cells) == 1:
                _build_panels(made, cells[0], choice, folds)
                continue
            with gr.Row(elem_classes="overview-detail"):
                for views in cells:
                    with gr.Column(scale=views[0].width, min_width=320):
                        _build_panels(made, views, choice, folds)
        elem_id = f"{made.tab.id}-{slug(label)}-more"
        together = gr.Accordion(made.tab.more, open=False, elem_id=elem_id) if len(folds) > 1 else contextlib.nullcontext()
        with together:
            for build in folds:
                build()
    return choice


def _build_panels(made: TabPage, views: Sequence[type[View]], choice: Choice, folds: list[Callable[[], None]]) -> None:
    for view in views:
        told = any(is_made(part) for other in choice.views for part in other.parts.values())
        choice.panels.append(Panel(view))
        builder = Builder(choice.panels[-1], made.controls, made.tab.id, folds, with_toggle=not told)
        if view.folded:
            folds.append(partial(fold, view.folded, f"{slug(view.name)}-folded", builder.build))
        else:
            builder.build()
