"""Our JavaScript modules in assets/ joined into one script, when they are served.

The page needs their code in its head, before Gradio's own scripts, and a downloaded file cannot import anything from file://.
Each module becomes a function that returns its exports; its imports become constants. This reads the part of the syntax that we
use, at the start of a line: `import { a, b as c } from "./x.js"`, `import * as x from "./x.js"`, `import "./x.js"`, and
`export` before a function, a class or a constant.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from explorer.core.paths import ASSETS

IMPORT = re.compile(r'^import\s+(?:(?P<names>\{[^}]*\}|\*\s+as\s+\w+)\s+from\s+)?"(?P<path>[^"]+)";\n?', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:(?:async )?function\*?|class|const) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
CLOSING = re.compile(r"</(?=script|style)", re.IGNORECASE)


def bundle(entries: Iterable[str], folder: Path = ASSETS) -> str:
    """One script that runs the modules `entries`, paths below `folder`, after their imports. Raises OSError for a missing one.

    It defines no global name except those that a module sets itself, and contains no comment that fills a line.
    """
    order: list[str] = []
    for entry in entries:
        _visit(entry, folder, order)
    numbers = {path: f"module{number}" for number, path in enumerate(order)}
    wrapped = (f"const {numbers[path]} = {_wrap(path, folder, numbers)};" for path in order)
    joined = "\n".join(["(() => {", '"use strict";', *wrapped, "})();"])
    return CLOSING.sub(r"<\\/", joined)


def _visit(path: str, folder: Path, order: list[str]) -> None:
    """Append a module to `order`, after those that it imports."""
    if path not in order:
        for found in IMPORT.finditer(_text(folder / path)):
            _visit(_resolve(found["path"], path), folder, order)
        order.append(path)


def _wrap(path: str, folder: Path, numbers: dict[str, str]) -> str:
    text = _text(folder / path)
    body = EXPORT.sub("", IMPORT.sub(lambda found: _constant(found, path, numbers), text))
    return f"(() => {{ // {path}\n{COMMENT.sub('', body)}return {{ {', '.join(EXPORT.findall(text))} }};\n}})()"


def _constant(found: re.Match[str], path: str, numbers: dict[str, str]) -> str:
    """The statement that takes the place of an import."""
    names, module = found["names"], numbers[_resolve(found["path"], path)]
    if names is None:
        return ""
    renamed = names.split()[-1] if names.startswith("*") else " ".join(names.split()).replace(" as ", ": ")
    return f"const {renamed} = {module};\n"


def _resolve(imported: str, importer: str) -> str:
    return normpath(str(PurePosixPath(importer).parent / imported))


@cache
def _text(path: Path) -> str:
    return path.read_text("utf-8").rstrip("\n") + "\n"
