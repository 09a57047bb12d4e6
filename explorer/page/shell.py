"""The page: the input at the top, its tokens below it, and a tab for every question."""

import functools
from collections.abc import Callable, Generator
from typing import Any

import gradio as gr

from explorer import endpoints as api
from explorer.api.gradio_seams import component_id
from explorer.bert import checkpoints
from explorer.core.scheduling import AT_ONCE, LOADING
from explorer.page import arriving, drawing
from explorer.page.blocks import PageBlocks
from explorer.page.building import build_tab, sections
from explorer.page.components import AnswersSwitch, Chips, Notice, Pulse, Says, Sections, Steppers, TokenRow
from explorer.page.controls import ANSWER
from explorer.page.events import DRAW, Inputs, Triggers, Updates, Values, run, then
from explorer.page.examples import FIRST_A, FIRST_B, ExampleBox, number_of
from explorer.page.frame import Shell
from explorer.page.listening import listen
from explorer.page.models import ModelBox, stop_opening
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.tabs import FIRST_TAB, TABS
from explorer.text import limits
from explorer.text.blanks import Blanks
from explorer.ui.answers import prepare, says_of
from explorer.ui.subject import CHANGES, Selection
from explorer.ui.view import OpenModel

TYPED = "async (...values) => BertExplorer.page.asking(await BertExplorer.page.typed(values, '#input'))"
OPENED = "async (...values) => BertExplorer.page.asking(await BertExplorer.page.opened(values))"
PLACED = "async (...values) => BertExplorer.page.asking(await BertExplorer.link.toRead(values))"
ASKING = "(...values) => BertExplorer.page.asking(values)"  # redraw the strip, and what is open at the same time


def build() -> PageBlocks:
    return build_shell()[0]


def build_shell() -> tuple[PageBlocks, Shell]:
    """Build the app. Returns it with the components of its page."""
    with PageBlocks(title="BERT Explorer", analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)) as blocks:
        api.register()  # first, so that no handler of the page takes the name of an endpoint
        shell = _build()
        drawing.listen(shell, blocks)
        for tab in shell.tabs.values():
            listen(tab, blocks.load)
        choices = [tab.which.input for tab in shell.tabs.values() if tab.which]
        gr.on(choices, None, js=DRAW, api_visibility="private", trigger_mode="always_last")
        for way in arriving.listen_to_reasons(shell, blocks):
            way.success(None, js=DRAW, api_visibility="private")
        boxes = [shell.inputs.text_a, shell.inputs.text_b]
        _refresh(shell, [box.change for box in boxes], js=TYPED, trigger_mode="multiple")
        _refresh(shell, [shell.reader.select, *(box.submit for box in boxes)])
        _listen_to_tokens(shell)
        _listen_to_what_is_said(shell, blocks)
        _listen_to_model(shell)
        around = [(tab.item, *(choice.column for choice in tab.choices.values())) for tab in shell.tabs.values()]
        blocks.containers, first = [component_id(one) for several in around for one in several], shell.tabs[FIRST_TAB]
        blocks.shown_with = {component_id(tab.body): component_id(tab.item) for tab in shell.tabs.values()}
        blocks.first = frozenset({component_id(first.item), component_id(next(iter(first.choices.values())).column)})
        opened, placed = arriving.listen(shell, blocks)
        _refresh(shell, opened.success, js=OPENED)
        _refresh(shell, placed.success, js=PLACED)
    return blocks, shell


def _build() -> Shell:
    # Hidden in the page: the server forgets the states of sessions when there are too many, and these must not be lost.
    model_name = gr.Textbox(checkpoints.default_name(), visible="hidden", elem_id="model-name")
    open_tab = gr.Textbox(None, visible="hidden", elem_id="open-tab")
    selection, blanks = gr.State(Selection()), gr.State(())
    with gr.Column(elem_id="bar"):
        with gr.Row(elem_id="header"):
            gr.Markdown("# BERT Explorer", elem_id="title")
            opener = gr.Button("Edit", elem_id="open-bar", size="sm", min_width=40)  # seen on a phone only
            examples = ExampleBox.build()
            models = ModelBox.build(model_name)
            steppers = Steppers(elem_id="steppers")
            suggestion = Chips(elem_id="suggestion", visible=False, elem_classes=ANSWER)
            find = gr.Button("Find anything", elem_id="find", size="sm", min_width=60)
            link = gr.Button("Share", elem_id="take-away", size="sm", min_width=50)
            lessons = gr.Button("Lessons", elem_id="open-lessons", size="sm", min_width=60)
            present = gr.Button("Present", elem_id="present", size="sm", min_width=32)
            theme = gr.Button("◐", elem_id="theme", size="sm", min_width=32)
        with gr.Row(elem_id="input"):
            look = {"lines": 1, "max_lines": 4, "min_width": 160}
            text_a = gr.Textbox(FIRST_A, label="A", placeholder="Type a sentence; [MASK] is a blank", elem_id="text-a", **look)
            text_b = gr.Textbox(FIRST_B, label="B", placeholder="A second sentence, if you like", elem_id="text-b", **look)
            says = Says(elem_id="says", elem_classes=ANSWER)
        with gr.Row(elem_id="token-line"):
            strip = TokenRow(with_window=True, elem_id="strip")
            put_back = Chips(elem_id="put-back", visible=False)
            notice = Notice(elem_id="notice")
            AnswersSwitch(elem_id="answers-switch")
    inputs = Inputs(model_name, text_a, text_b, selection)
    address = gr.Textbox("", visible="hidden", elem_id="link")
    models.under_way.render()
    Sections(sections(), elem_id="sections")
    with gr.Tabs(selected=FIRST_TAB, elem_id="tabs", overflow_behavior="wrap") as tab_bar:
        tabs = {tab.id: build_tab(tab, inputs, (steppers, says, put_back, suggestion), address) for tab in TABS}
    given, told, pulse, reader = gr.Textbox("", visible="hidden", elem_id="given"), gr.State(""), Pulse(), Pulse(name="read")
    around = (strip, steppers, says, put_back, suggestion, notice)
    shell = Shell(inputs, open_tab, blanks, models, examples, *around, given, told, address, tab_bar, pulse, reader, tabs)
    calls = {opener: "page.toggleBar", find: "page.openFinder", present: "page.present", theme: "page.toggleTheme"}
    for button, call in {**calls, link: "take.show", lessons: "lessons.toggle"}.items():
        button.click(None, js=f"() => BertExplorer.{call}()", api_visibility="private")
    _listen_to_header(shell)
    return shell


def _refresh(shell: Shell, triggers: Triggers, js: str = ASKING, **options: Any) -> None:
    """When a trigger fires, redraw the token strip, or say in the notice why that is impossible.

    It has few outputs: the browser searches the whole page for each of them, at every key.
    """

    def refresh(values: Values) -> Updates:
        if values[shell.models.refused]:
            return {shell.models.refused: False}
        subject = shell.inputs.subject(values)
        read = {shell.examples.box: number_of(subject.text_a, subject.text_b), **shell.read(subject, values[shell.told])}
        if shell.strip not in read:
            return {**read, shell.strip: None}
        return {**read, shell.told: "", shell.inputs.selection: subject.selection}

    inputs = [*shell.inputs.all, shell.models.refused, shell.told]
    outputs = [shell.strip, shell.notice, shell.told, shell.examples.box, shell.models.refused, shell.inputs.selection]
    then(run(triggers, refresh, outputs, inputs, js=js, **options), "wasRead")


def _listen_to_header(shell: Shell) -> None:
    inputs = shell.inputs
    for chosen in shell.examples.listen(inputs):
        then(chosen, "read")

    def put_back(values: Values, event: gr.SelectData) -> Updates:
        return {inputs.selection: inputs.subject(values).select(**CHANGES).selection}

    def change_over(values: Values, event: gr.SelectData) -> Updates:
        subject = inputs.subject(values)
        return {inputs.selection: subject.select(picked=not subject.selection.picked).selection}

    for chip, change in ((shell.put_back, put_back), (shell.suggestion, change_over)):
        then(run([chip.select], change, [inputs.selection], inputs.all), "draw")


def _listen_to_what_is_said(shell: Shell, blocks: PageBlocks) -> None:
    """Predict each word of a text without a blank in turn, for the sentence about it; stops when the user does anything else."""

    def ask(values: Values, request: gr.Request) -> Updates:
        subject = shell.inputs.subject(values)
        return {shell.says: says_of(subject)} if blocks.finish(prepare(subject), request.session_hash) else {}

    run(shell.says.ask, ask, [shell.says], shell.inputs.all)


def _listen_to_model(shell: Shell) -> None:
    """Open a model chosen in the box, by a tab's button 'Use the bundled model', or by a view's button."""
    models = shell.models
    own = [models.in_use, models.box, models.known, models.recent, models.refused, models.under_way, models.fetching]
    outputs = [*own, shell.notice, *shell.which_tabs]
    known = [models.in_use, models.recent, shell.open_tab]

    def opening(named: Callable[[Values], tuple[Any, Updates]]) -> Callable[..., Generator[Updates, None, None]]:
        def open_it(values: Values, request: gr.Request) -> Generator[Updates, None, None]:
            name, shown = named(values)
            yield shown
            fit = functools.partial(shell.fitting, open_tab=values[shell.open_tab])
            yield from models.opening(name, values, shell.notice, fit, request.session_hash)

        return open_it

    def named_by(tab: TabPage, panel: Panel, name: str, values: Values) -> tuple[str, Updates]:
        subject = tab.inputs.subject(values)
        found = getattr(panel.read(values, subject), f"on_{name}")(subject, None)
        return found.name, panel.updates(found.content, only_these=True)

    def stop(values: Values, request: gr.Request) -> Updates:
        stop_opening(request.session_hash)
        return {}

    loaded = [run([models.box.input], opening(lambda values: (values[models.box], {})), outputs, [models.box, *known], **LOADING)]
    ways_out = [tab.way_out.click for tab in shell.tabs.values() if tab.way_out]
    loaded += [run(ways_out, opening(lambda values: (checkpoints.BUNDLED, {})), outputs, known, **LOADING)]
    for tab, panel, name in shell.parts_that(OpenModel):
        named, read = functools.partial(named_by, tab, panel, name), [*tab.inputs_of([panel]), *known]
        loaded.append(run([panel.parts[name].click], opening(named), [*panel.outputs, *outputs], read, **LOADING))
    run([models.stop.click], stop, [models.stop], **AT_ONCE)
    for event in loaded:
        then(event, "read")


def _listen_to_tokens(shell: Shell) -> None:
    inputs = shell.inputs
    panels = [panel for tab in shell.tabs.values() for panel in tab.panels]
    parts = [(panel.parts[name], part) for panel in panels for name, part in panel.view.parts.items()]
    rows = [row for row, part in parts if part.kind == "tokens" and not part.options.get("passive")]

    def mask(values: Values, event: gr.SelectData) -> Updates:
        subject = inputs.subject(values)
        before = Blanks((subject.text_a, subject.text_b), values[shell.blanks])
        token = limits.check_integer(event.index, "the token", 0, subject.trace.kept - 1)
        after = before.toggle(subject.trace.encoding, token)
        return {inputs.text_a: after.texts[0], inputs.text_b: after.texts[1], shell.blanks: after.hidden}

    outputs = [inputs.text_a, inputs.text_b, shell.blanks]
    for row in (shell.strip, shell.says, *rows):
        then(run(row.mask, mask, outputs, [*inputs.all, shell.blanks]), "read")
