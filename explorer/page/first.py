"""What the page opens with, as a file: all that the bundled model gives for the first example. So a page is complete before
any model is loaded. `python -m explorer.page.first` makes it again; a test compares it with the app's own answer.
"""

import json
from collections.abc import Mapping
from typing import Any

import gradio as gr

from explorer.api.gradio_seams import props_sent
from explorer.bert import checkpoints
from explorer.core.paths import ASSETS
from explorer.page.examples import first_subject
from explorer.page.frame import Shell
from explorer.page.shell import build_shell
from explorer.tabs import FIRST_TAB
from explorer.ui.pictures.token_row import token_row_of

FILE = ASSETS / "first" / "page.json"


def read() -> Mapping[str, Mapping[str, Any]]:
    """The properties of components, by element id; none if the app opens with another model than the bundled one."""
    return json.loads(FILE.read_text("utf-8")) if checkpoints.default_name() == checkpoints.BUNDLED else {}


def make(shell: Shell) -> dict[str, dict[str, Any]]:
    """What the file should hold: the token strip and the first tab. Raises ExplorerError."""
    subject, tab = first_subject(), shell.tabs[FIRST_TAB]
    updates = {shell.strip: token_row_of(subject.trace.encoding, None), **tab.show(subject, tab.complete({}))}
    shown = {one: value for one, value in updates.items() if one.elem_id and not isinstance(one, gr.State | gr.BrowserState)}
    return {one.elem_id: json.loads(json.dumps(props_sent(one, value))) for one, value in shown.items()}


def main() -> None:
    lines = (f" {json.dumps(name)}: {json.dumps(props, ensure_ascii=False)}" for name, props in make(build_shell()[1]).items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
