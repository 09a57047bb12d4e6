"""How the page gets to a place: it opens, a link or the browser's back leads there, or a finding or a button shows why."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from explorer.api.gradio_seams import component_id, props_sent
from explorer.bert.cold import encoding_of
from explorer.bert.explorer import list_loaded
from explorer.export import links
from explorer.export.asking import Asked
from explorer.page.blocks import PageBlocks
from explorer.page.controls import default_of
from explorer.page.events import Updates, Values, merge, run, then
from explorer.page.examples import first_subject, number_of
from explorer.page.frame import Shell
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.tabs import FIRST_TAB
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject
from explorer.ui.view import Why

LONGEST_NAME = 300  # characters of a model's name
BACK = "The lesson is closed. Your text and view from before it are back."


def frame_of(shell: Shell, link: Mapping[str, str]) -> dict[str, Any]:
    """What the page of a link shows before anything is computed: its texts, its tab and choice, its tokens if they are known.

    `elements` are properties by element id, which Gradio gets too, `props` those by component.
    """
    subject, tab, choice = Asked(link).named(first_subject())
    texts: Updates = {shell.inputs.text_a: subject.text_a, shell.inputs.text_b: subject.text_b}
    texts[shell.examples.box] = number_of(subject.text_a, subject.text_b)
    shown: Updates = {shell.models.box: gr.update(value=subject.model_name[:LONGEST_NAME])}
    if encoding := encoding_of(subject.model_name, subject.text_a, subject.text_b):
        shown[shell.strip] = token_row_of(encoding, None)
    return {
        "tab": tab.id,
        "view": choice,
        "elements": {one.elem_id: {"value": value} for one, value in texts.items()},
        "props": {component_id(one): props_sent(one, value) for one, value in shown.items()},
    }


def view_of(shell: Shell, blocks: PageBlocks, link: Mapping[str, str]) -> dict[str, Any]:
    """What the page of a link will be sent, to be shown before: {} unless the model is loaded. Raises ExplorerError."""
    asked, default = dict(link), first_subject()
    if "back" in asked or Asked(asked).named(default)[0].model_name not in {model.name for model in list_loaded()}:
        return {}
    place = links.read(asked, default)
    kept = {one: default_of(one) for one in (shell.models.recent, *shell.kept)}
    updates = shell.arrive(place, kept, is_built=False)
    shown = {one: value for one, value in updates.items() if not isinstance(one, gr.State | gr.BrowserState)}
    props = {component_id(one): sent for one, value in shown.items() if (sent := props_sent(one, value))}
    piece = blocks.piece(shell.tabs[place.tab], place.choice, props)
    return {"tab": place.tab, "is_view": True, "props": props, **piece}


def listen(shell: Shell, blocks: PageBlocks) -> tuple[gr.events.Dependency, gr.events.Dependency]:
    """Listen for the page being opened and for visits (links and the browser's back button).

    Returns two events: the page was opened, and a link's texts are in their boxes, but for what was typed there meanwhile. The
    page must be drawn after each of them, unless it is drawn already.
    """

    def arrive(query: dict[str, str], values: Values, request: gr.Request, visit: str = "0") -> Updates:
        back = query.pop("back", "") == "lesson"
        place = links.read(query, first_subject())
        place = replace(place, told=(BACK,)) if back else place
        is_built = blocks.has_built(request.session_hash, shell.tabs[place.tab], place.choice)
        texts = [place.subject.text_a, place.subject.text_b]
        return shell.arrive(place, values, is_built) | {shell.given: json.dumps([visit, is_built, *texts])}

    def open_page(values: Values, request: gr.Request) -> Updates:
        default = first_subject()
        if links.asks(request.query_params):
            return arrive(dict(request.query_params), values, request)
        # The page has its texts already, and the user may have begun to type or to look around.
        open_tab = values[shell.open_tab] if values[shell.open_tab] in shell.tabs else FIRST_TAB
        updates = {shell.open_tab: open_tab, shell.inputs.model_name: default.model_name}
        return updates | shell.models.choosing(default.model_name, values) | shell.fitting(default.model, open_tab)

    def visit(values: Values, request: gr.Request) -> Updates:
        number, _, query = str(values[visited]).encode("utf-8", "replace").decode().partition("?")  # decoded as an address is
        asked = dict(parse_qsl(query[: links.LONGEST], keep_blank_values=True))
        return arrive(asked, values, request, number)

    blocks.frame_of, blocks.view_of = partial(frame_of, shell), partial(view_of, shell, blocks)
    # Set by a script: a number that makes each visit a new value, and the query of the link.
    visited = gr.Textbox("", visible="hidden", elem_id="visited")
    shell.address.change(None, shell.address, js="(query) => BertExplorer.link.follow(query)", api_visibility="private")
    known = [shell.open_tab, shell.models.recent, *shell.kept]
    visits = run([visited.change], visit, shell.of_a_place, [visited, shell.models.recent, *shell.kept])
    visits.then(None, js="() => BertExplorer.link.arrived()", api_visibility="private")
    opened = run([blocks.load], open_page, shell.of_a_place, known)
    then(opened, "wasOpened")
    for event in (opened, visits):
        event.failure(None, js="() => BertExplorer.page.didNotArrive()", api_visibility="private")
    # A change, since nothing that is chained to an event follows an answer that builds a tab.
    js = "(given) => BertExplorer.link.texts(given)"
    boxes = [shell.inputs.text_a, shell.inputs.text_b]
    placed = shell.given.change(None, shell.given, boxes, js=js, trigger_mode="multiple", api_visibility="private")
    return opened, placed


def listen_to_reasons(shell: Shell, blocks: PageBlocks) -> list[gr.events.Dependency]:
    """Let 'see why' and parts with `leads` open the tab, choice, selection and settings that their `Why` names.

    The page must be redrawn after each of the returned events, unless they built the choice. The finding is computed again
    on the server: what a browser sends cannot be trusted.
    """
    inputs, pages = shell.inputs, list(shell.tabs.values())
    choices = [tab.which for tab in pages if tab.which]
    outputs = [shell.open_tab, shell.tab_bar, shell.strip, shell.notice, *shell.settable]

    def go(tab: TabPage, reason: Callable[[Subject, Values], Why | None], values: Values, session: str | None) -> Updates:
        subject = tab.opening(inputs.subject(values), values)  # the page may have only just been sent, with nothing selected yet
        if (why := reason(subject, values)) is None:
            return {}
        target = shell.tabs[why.tab]
        subject = subject.select(**why.selection) if why.selection else subject
        updates: Updates = {shell.open_tab: target.tab.id, shell.tab_bar: gr.Tabs(selected=target.tab.id)}
        if why.selection:
            strip = token_row_of(subject.trace.encoding, subject.selection.token)
            updates |= {inputs.selection: subject.selection, shell.strip: strip}
        set_so = {target.which: why.choice} if target.which else {}
        set_so |= {target.controls[name]: value for name, value in why.settings.items()}
        built = blocks.has_built(session, target, why.choice)
        return updates | set_so if built else merge(updates, shell.build(target, subject, values, set_so))

    def see_why(values: Values, request: gr.Request) -> Updates:
        here = shell.tabs.get(values[shell.open_tab]) or shell.tabs[FIRST_TAB]
        return go(here, here.why, values, request.session_hash)

    def leading(tab: TabPage, panel: Panel, name: str) -> Callable[[Values, gr.Request], Updates]:
        def reason(subject: Subject, values: Values) -> Why | None:
            return getattr(panel.read(values, subject), f"on_{name}")(subject, None)

        def lead(values: Values, request: gr.Request) -> Updates:
            return go(tab, reason, values, request.session_hash)

        return lead

    finders = [panel for tab in pages for choice in tab.choices.values() for panel in choice.finders]
    read = [control for panel in finders for control in panel.controls.values()]
    told = [tab.finding.select for tab in pages]
    ways = [run(told, see_why, outputs, [*inputs.all, shell.open_tab, *choices, *read, *shell.kept])]
    for tab, panel, name in shell.parts_that(Why):
        ways.append(run([panel.parts[name].click], leading(tab, panel, name), outputs, [*tab.all_inputs, *shell.kept]))
    return ways
