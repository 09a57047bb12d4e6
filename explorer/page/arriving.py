"""How the page gets its state: its defaults when it opens, what a link says, or where the browser goes back to."""

import json
from dataclasses import replace
from urllib.parse import parse_qsl

import gradio as gr

from explorer.export import links
from explorer.page.blocks import PageBlocks
from explorer.page.events import Updates, Values, run, then
from explorer.page.examples import first_subject
from explorer.page.frame import Shell
from explorer.tabs import FIRST_TAB

BACK = "The lesson is closed. Your text and view from before it are back."


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

    # Set by a script: a number that makes each visit a new value, and the query of the link.
    visited = gr.Textbox("", visible="hidden", elem_id="visited")
    shell.address.change(None, shell.address, js="(query) => BertExplorer.link.follow(query)", api_visibility="private")
    known = [shell.open_tab, shell.models.recent, *shell.kept]
    visits = run([visited.change], visit, shell.of_a_place, [visited, shell.models.recent, *shell.kept])
    visits.then(None, js="() => BertExplorer.link.arrived()", api_visibility="private")
    opened = run([blocks.load], open_page, shell.of_a_place, known)
    then(opened, "() => BertExplorer.page.wasOpened()")
    for event in (opened, visits):
        event.failure(None, js="() => BertExplorer.page.didNotArrive()", api_visibility="private")
    # A change, since nothing that is chained to an event follows an answer that builds a tab.
    js = "(given) => BertExplorer.link.texts(given)"
    boxes = [shell.inputs.text_a, shell.inputs.text_b]
    placed = shell.given.change(None, shell.given, boxes, js=js, trigger_mode="multiple", api_visibility="private")
    return opened, placed
