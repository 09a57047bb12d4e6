"""The architecture of a model: boxes from its input down to its heads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.ui.pictures.numbers import Table, keep


@dataclass(frozen=True)
class Block:
    """One box: its name, size and number of weights, and the tab (with one of its choices) that shows it in detail."""

    name: str
    size: str = ""
    parameters: int = 0
    tab: str = ""
    choice: str = ""


@dataclass(frozen=True)
class Stage:
    """Boxes side by side or, with `times`, below each other and repeated that often."""

    blocks: Sequence[Block]
    times: int = 0
    note: str = ""
    between: str = ""  # what is done after each of the boxes below each other


def architecture(stages: Sequence[Stage]) -> dict[str, Any]:
    """The component's value for stages, from the input on."""
    rows = [[block.name, block.size, block.parameters or None, one.times or 1] for one in stages for block in one.blocks]
    shown = {"stages": [{**vars(one), "blocks": [_drawn(block) for block in one.blocks]} for one in stages]}
    return keep(shown, lambda: Table.of(("part", "size", "parameters", "times"), rows))


def _drawn(block: Block) -> dict[str, str]:
    weights = f"{block.parameters:,} parameters" if block.parameters else ""
    return {"name": block.name, "size": block.size, "weights": weights, "tab": block.tab, "choice": block.choice}
