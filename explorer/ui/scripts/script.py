"""Assemble a script: imports, the model, and the computation.

What a person typed is written with `repr`, which keeps it on one line and inside its quotes.
"""

import re
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

MODULES = {"math": "import math", "re": "import re", "sys": "import sys", "np": "import numpy as np", "torch": "import torch"}
SHIPPED = """from importlib.util import find_spec
from pathlib import Path
def shipped(path):  # in the app's folder, or where the package is installed
    package = Path(getattr(find_spec("explorer"), "origin", None) or "").parent
    found = [str(place / path) for place in (Path(), package, package.parent) if (place / path).exists()]
    return found[0] if found else sys.exit(f"There is no {path} here; put its full path into this script.")"""
WIDE = 100  # characters of a list that stands on one line


def script(question: str, *parts: str) -> str:
    """The parts one below the other, with their imports on top; empty parts are left out.

    A script that calls `shipped`, for a file that comes with the app, gets the function that finds it.
    """
    bodies = [body for part in parts if (body := dedent(part).strip("\n"))]
    bodies = [SHIPPED, *bodies] if any("shipped(" in body for body in bodies) else bodies
    code = "\n".join(bodies)
    used = [line for name, line in MODULES.items() if re.search(rf"\b{name}\.", code)]
    imports = sorted(line for line in code.splitlines() if line.startswith("from "))
    rest = "\n".join(line for line in code.splitlines() if not line.startswith("from "))
    named = f'"""{question}"""'
    return "\n\n".join(["\n".join(block) for block in ([named], [*used, *_joined(imports)]) if block] + [rest]) + "\n"


def written(name: str, values: Sequence[Any], note: str = "") -> str:
    """A list assigned to a name: on one line if it fits, otherwise one value a line."""
    comment = f"  # {note}" if note else ""
    line = f"{name} = {list(values)!r}"
    if len(line) <= WIDE:
        return line + comment
    rows = "".join(f"    {value!r},\n" for value in values)
    return f"{name} = [{comment}\n{rows}]"


def _joined(imports: Sequence[str]) -> list[str]:
    """Each module once, with all names imported from it."""
    taken: dict[str, set[str]] = {}
    for line in imports:
        module, _, names = line.removeprefix("from ").partition(" import ")
        taken.setdefault(module, set()).update(names.split(", "))
    return [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(taken.items())]
