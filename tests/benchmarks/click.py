"""`python -m tests.benchmarks.click`: which functions of ours one click on a head runs, once everything is warm."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import gradio as gr

from explorer.page.events import Values, plain
from explorer.page.frame import Shell
from explorer.page.shell import build_shell
from explorer.ui.subject import Selection

OURS = str(Path(__file__).resolve().parents[2] / "explorer")
Calls = Counter[tuple[str, str]]
"""How often each function is called, comprehensions included, by its file and name."""


def calls_of_a_click(blocks: gr.Blocks, shell: Shell) -> Calls:
    """The calls for a click on a head in Attention, after clicks on other heads of its layer and one of another."""
    tab, inputs = shell.tabs["attention"], shell.inputs
    grid = next(panel for panel in tab.panels if panel.view.name == "attention/heads").parts["grid"]
    click = next(one for one in blocks.fns.values() if (grid._id, "select") in one.targets)
    opened = {box: box.value for box in (inputs.model_name, inputs.text_a, inputs.text_b, shell.address)}
    values = tab.complete({**opened, inputs.selection: Selection()})
    for head in ([1, 1], [1, 2], [2, 2]):
        _click(click.fn, values, head)
    calls: Calls = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code.co_filename.removeprefix(OURS), frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        _click(click.fn, values, [2, 3])
    finally:
        sys.setprofile(None)
    return calls


def _click(handler: Any, values: Values, head: list[int]) -> None:
    updates = handler(dict(values), gr.SelectData(None, {"index": head, "value": None}))
    values.update({one: plain(value) for one, value in updates.items() if one in values})


if __name__ == "__main__":
    found = calls_of_a_click(*build_shell())
    for (file, function), times in found.most_common():
        print(f"{times:4} {file} {function}")
    print(f"{found.total()} calls of {len(found)} functions in {len({file for file, _ in found})} files")
