"""The page: one input on top, its tokens below, and a tab for every question."""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import gradio as gr

from explorer import api
from explorer.base.errors import ExplorerError
from explorer.model import checkpoints
from explorer.outlets import links
from explorer.page.components import Notice, TokenRow
from explorer.page.wiring import BUSY, DONE, Page, Selection, Tab, Triggers, Updates, View, with_view
from explorer.tabs import TABS
from explorer.text import limits
from explorer.text.blanks import Blanks

TYPED = "async (...values) => BertPage.busy(await BertPage.typed(values, '#input'))"


@dataclass(frozen=True)
class Example:
    """An input worth looking at, and where to look."""

    label: str
    text_a: str
    text_b: str = ""
    selection: Selection = field(default_factory=Selection)


EXAMPLES = (
    Example(
        "A pair with a blank",
        "The teacher asked the [MASK] to open their books.",
        "They read the first page aloud.",
        Selection(layer=1, head=1),
    ),
    Example("One word, two senses: bank", "She sat on the bank of the river.", "He put the money in the bank."),
    Example("Agreement across a phrase", "The keys to the old cabinet [MASK] on the table."),
    Example("Who is 'it'?", "The dog did not cross the street because it was too tired."),
    Example("Two strangers", "We ran out of flour this morning.", "Saturn is the second largest planet."),
    Example("Pieces of rare words", "The ornithologist mispronounced antidisestablishmentarianism again."),
)
FIRST_TAB = "attention"


@dataclass(frozen=True)
class Shell:
    """The components around the tabs."""

    page: Page
    open_tab: gr.State
    blanks: gr.State
    model_box: gr.Dropdown
    strip: TokenRow
    notice: Notice
    tabs: gr.Tabs


def build() -> gr.Blocks:
    """The whole app, ready to launch. Nothing is computed and no model is loaded here."""
    with gr.Blocks(
        title="BERT Explorer", analytics_enabled=False, fill_width=True, delete_cache=(3600, 24 * 3600)
    ) as blocks:
        api.register()  # first, so that no handler of the page takes the name of an endpoint
        shell = _build_shell()
        _wire_input(shell)
        _wire_model(shell)
        _wire_tokens(shell)
        for tab in shell.page.tabs.values():
            _wire_tab(shell, tab)
        _wire_opening(shell, blocks)
    return blocks


def _build_shell() -> Shell:
    first = EXAMPLES[0]
    model_name = gr.State(checkpoints.default_name())
    selection, blanks, open_tab = gr.State(first.selection), gr.State(()), gr.State(None)
    with gr.Row(elem_id="header", equal_height=True):
        gr.Markdown("# BERT Explorer", elem_id="title")
        examples = gr.Dropdown(
            [(example.label, index) for index, example in enumerate(EXAMPLES)],
            value=None,
            label="Examples",
            elem_id="examples",
            min_width=180,
        )
        model_box = gr.Dropdown(
            _model_choices(),
            value=checkpoints.default_name(),
            allow_custom_value=True,
            label="Model: a name, a hub id or a folder",
            elem_id="model-box",
            min_width=220,
        )
        theme = gr.Button("◐", elem_id="theme", size="sm", min_width=44)
        link = gr.Button("Copy link", elem_id="copy-link", size="sm", min_width=96)
    with gr.Row(elem_id="input"):
        look = {"lines": 1, "max_lines": 4, "min_width": 240}
        text_a = gr.Textbox(first.text_a, label="A", placeholder="Type a sentence", elem_id="text-a", **look)
        text_b = gr.Textbox(
            first.text_b, label="B (optional)", placeholder="A second sentence", elem_id="text-b", **look
        )
    strip = TokenRow(elem_id="strip")
    notice = Notice(elem_id="notice")
    page = Page(model_name, text_a, text_b, selection)
    page.picked_rows.append(strip)
    page.masked_rows.append(strip)
    with gr.Tabs(selected=FIRST_TAB, elem_id="tabs", overflow_behavior="wrap") as tabs:
        for module in TABS:
            module.build(page)
    shell = Shell(page, open_tab, blanks, model_box, strip, notice, tabs)
    _wire_header(shell, examples, theme, link)
    return shell


def _model_choices() -> list[str]:
    return list(dict.fromkeys([checkpoints.default_name(), checkpoints.BUNDLED, checkpoints.EXAMPLE_ID]))


def _wire_refresh(shell: Shell, triggers: Triggers, js: str = BUSY, **options: Any) -> None:
    """When a trigger fires, bring the strip and the open tab up to date, or tell in the notice why that cannot be."""
    page = shell.page
    tabs = list(page.tabs.values())
    ends = list(itertools.accumulate(len(tab.controls) for tab in tabs))
    places = {tab.id: slice(end - len(tab.controls), end) for tab, end in zip(tabs, ends, strict=True)}

    def refresh(view: View, open_tab: str | None, *controls: Any) -> Updates:
        tab = page.tabs[open_tab or FIRST_TAB]
        try:
            updates = {shell.strip: view.chip_row(), shell.notice: _truncation(view), page.selection: view.selection}
            return updates | tab.updates(view, *controls[places[tab.id]])
        except ExplorerError as error:
            return {shell.notice: {"text": str(error), "kind": "error"}}

    inputs = [shell.open_tab, *(control for tab in tabs for control in tab.controls)]
    outputs = [shell.strip, shell.notice, page.selection, *(item for tab in tabs for item in tab.all_outputs)]
    done = page.on(triggers, refresh, list(dict.fromkeys(outputs)), inputs, js=js, **options)
    done.then(None, js=DONE, api_visibility="private")


def _truncation(view: View) -> str:
    trace = view.trace
    if trace.kept == trace.total:
        return ""
    return f"{trace.kept} of {trace.total} tokens kept: this model reads no more than {trace.kept} at a time."


def _wire_input(shell: Shell) -> None:
    boxes = [shell.page.text_a, shell.page.text_b]
    _wire_refresh(shell, [box.change for box in boxes], js=TYPED, trigger_mode="multiple")
    _wire_refresh(shell, [box.submit for box in boxes], trigger_mode="multiple")


def _wire_header(shell: Shell, examples: gr.Dropdown, theme: gr.Button, link: gr.Button) -> None:
    page = shell.page

    def choose(index: int) -> Updates:
        example = EXAMPLES[limits.check_integer(index, "the example", 0, len(EXAMPLES) - 1)]
        return {page.text_a: example.text_a, page.text_b: example.text_b, page.selection: example.selection}

    chosen = page.run([examples.input], choose, [page.text_a, page.text_b, page.selection], [examples], queue=False)
    _wire_refresh(shell, chosen.success)
    theme.click(None, js="() => BertPage.toggleTheme()", api_visibility="private")

    address = gr.Textbox(visible="hidden", elem_id="link")
    written = page.run(
        [link.click],
        with_view(lambda view, tab: links.query(view, tab or FIRST_TAB)),
        [address],
        [*page.inputs, shell.open_tab],
        queue=False,
    )
    written.success(None, address, shell.notice, js="(query) => BertPage.copyLink(query)", api_visibility="private")


def _wire_model(shell: Shell) -> None:
    page = shell.page

    def choose(name: str | None, current: str, progress: gr.Progress = gr.Progress()) -> Updates:  # noqa: B008
        from explorer.model.explorer import load  # loads torch

        try:
            model = load(name, lambda share, what: progress(share, desc=what))
        except ExplorerError as error:
            return {shell.model_box: current, shell.notice: {"text": f"{error} {current} stays.", "kind": "error"}}
        return {page.model_name: model.name, shell.model_box: model.name, shell.notice: ""}

    outputs = [page.model_name, shell.model_box, shell.notice]
    inputs = [shell.model_box, page.model_name]
    chosen = page.run(
        [shell.model_box.input], choose, outputs, inputs, show_progress="full", show_progress_on=shell.notice
    )
    ways_out = [tab.way_out.click for tab in page.tabs.values()]
    bundled = page.run(ways_out, lambda current: choose(checkpoints.BUNDLED, current), outputs, [page.model_name])
    asked = [page.run(after, choose, outputs, [name, page.model_name]) for after, name in page.model_requests]
    for loaded in (chosen, bundled, *asked):
        loaded.success(None, js=BUSY, api_visibility="private")
        _wire_refresh(shell, loaded.success)


def _wire_tokens(shell: Shell) -> None:
    page = shell.page

    def pick(view: View, token: int) -> Updates:
        return {page.selection: page.reselect(view, token=int(token)).selection}

    def mask(view: View, token: int, hidden: tuple[tuple[str, int], ...]) -> Updates:
        before = Blanks((view.text_a, view.text_b), hidden)
        after = before.toggle(view.trace.encoding, int(token))
        return {page.text_a: after.texts[0], page.text_b: after.texts[1], shell.blanks: after.hidden}

    picked = page.on_pick([row.select for row in page.picked_rows], pick, [page.selection])
    _wire_refresh(shell, picked.success)
    for row in page.masked_rows:
        masked = page.on_pick(row.mask, mask, [page.text_a, page.text_b, shell.blanks], [shell.blanks])
        _wire_refresh(shell, masked.success)


def _wire_tab(shell: Shell, tab: Tab) -> None:
    def show(view: View, open_tab: str | None, *controls: Any) -> Updates:
        if tab.id == (open_tab or FIRST_TAB):  # fires while the page loads, too; opening the page shows its tab
            return {shell.open_tab: open_tab}
        try:
            return {shell.open_tab: tab.id, **tab.updates(view, *controls)}
        except ExplorerError as error:
            return {shell.open_tab: tab.id, shell.notice: {"text": str(error), "kind": "error"}}

    outputs = [shell.open_tab, shell.notice, *tab.all_outputs]
    shell.page.on([tab.item.select], show, outputs, [shell.open_tab, *tab.controls])


def _wire_opening(shell: Shell, blocks: gr.Blocks) -> None:
    page = shell.page
    first = EXAMPLES[0]

    def open_page(open_tab: str | None, request: gr.Request) -> Updates:
        default = View(checkpoints.default_name(), first.text_a, first.text_b, first.selection)
        view = links.read(dict(request.query_params), default)
        linked = request.query_params.get("tab")
        updates: Updates = {shell.notice: ""}
        if linked in page.tabs:
            updates[shell.tabs] = gr.Tabs(selected=linked)
            open_tab = linked
        try:
            view.model  # noqa: B018  a link may name a model that is not to be had here
        except ExplorerError as error:
            view = replace(view, model_name=default.model_name)
            updates[shell.notice] = {"text": f"{error} {default.model_name} is shown instead.", "kind": "error"}
        return updates | {
            page.model_name: view.model_name,
            shell.model_box: view.model_name,
            page.text_a: view.text_a,
            page.text_b: view.text_b,
            page.selection: view.chosen,
            shell.open_tab: open_tab or FIRST_TAB,
        }

    outputs = [*page.inputs, shell.model_box, shell.open_tab, shell.tabs, shell.notice]
    opened = page.run([blocks.load], open_page, outputs, [shell.open_tab])
    _wire_refresh(shell, opened.success)
