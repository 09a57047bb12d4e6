"""Write the Python of a view: a file of a capability's folder `scripts`, filled in by name.

The files run as they stand, on the bundled BERT. What becomes of one for a view:

1. `from explorer… import …` is replaced by the contents of that file, of which only what is used is kept.
2. A value that was chosen, assigned at the top of a file (`layer, head = 1, 1`), is replaced by that of the page.
3. An `if` or a conditional expression about such values alone is decided: one branch stays, without the question.
4. BERT's names for the parts of a model become those of its family (`Names`).

What a person typed is written with `repr`, which keeps it on one line and inside its quotes.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from explorer.ui.names import Names
from explorer.ui.statements import Source, Statement, assigned, literals, parsed, statements_of
from explorer.ui.subject import Subject
from explorer.ui.view import View

ROOT = Path(__file__).resolve().parents[2]  # of the module names
START = Path(__file__).resolve().with_name("scripts") / "start.py"
OTHER = r"\bother_(model|tokenizer)\b"  # of two models side by side


class Script:
    """A file of a folder `scripts`, and what is chosen in it by name.

    The subject's own values (`Names.values`) and the view's settings need not be given. `other` is the model that the file
    calls `other_model`, if that is not the same; `kind` is the class of transformers, if not the pre-training one.
    """

    def __init__(self, name: str, other: Names | None = None, kind: str = "", **values: Any) -> None:
        self.name, self.other, self.kind, self.values = name, other, kind, values


def write(folder: Path, script: Script, view: View, subject: Subject) -> str:
    """The text of a script in a folder. Raises ValueError if its file lacks a value."""
    file, other, names = folder / script.name, script.other, Names(subject.model, kind=script.kind)
    values = script.values | {"MODEL": Source(names.place)}
    texts = {one: one.read_text("utf-8") for one in _files(file)}
    settings = {name: getattr(view, name) for name in view.settings}
    chosen = {**names.values(subject), **settings, **values}
    known = {name for text in texts.values() for name, is_literal in literals(text) if is_literal or name in values}
    if missing := values.keys() - known - {"MODEL"}:
        raise ValueError(f"{file.name} assigns no {missing}.")
    chosen = {name: value for name, value in chosen.items() if name in known}
    statements = [one for path, text in texts.items() for one in statements_of(path, text, chosen)]
    if other:
        statements += [Statement(other.adapted(one.text), file) for one in statements if one.imports]
    for one in statements:
        one.comment = (other if other and "OTHER" in one.values else names).adapted(one.comment)
        one.text = one.text if one.values else _adapted(one.text, names, other)  # what was typed stays as it is
    return _joined(view.question, names, file, statements)


@lru_cache(maxsize=200)
def _included(file: Path) -> list[tuple[Path, list[str]]]:
    """The files that a file includes, with the names that it takes from each."""
    taken = [one for one in parsed(file.read_text("utf-8")).body if isinstance(one, ast.ImportFrom)]
    ours = [(str(one.module), [name.name for name in one.names]) for one in taken if str(one.module).startswith("explorer.")]
    return [(ROOT.joinpath(*module.split(".")).with_suffix(".py"), names) for module, names in ours]


def _files(file: Path) -> list[Path]:
    """The files that a file includes, each once and before what includes it, and itself."""
    found = dict.fromkeys(one for path, _ in _included(file) for one in _files(path))
    return [*found, file]


def _adapted(text: str, names: Names, other: Names | None) -> str:
    """A statement with the names of the family of its model."""
    if not re.search(OTHER, text):
        return names.adapted(text)
    return names.adapted(re.sub(OTHER, r"\1", text)) if other is None else other.adapted(text)


def _joined(question: str, names: Names, file: Path, statements: Sequence[Statement]) -> str:
    """The script: its imports, the chosen values, the rest."""
    kept = _used(file, [one for one in statements if not one.imports])
    top = [one for one in kept if one.values and not one.uses - {"slice"}]
    rest = _apart([one for one in kept if one not in top])
    body = names.unnormed("\n".join([*(one.text for one in top), *([""] if top else []), rest]))
    used = {one.id for one in ast.walk(parsed(body)) if isinstance(one, ast.Name)}
    imports = _imports([one for one in statements if one.imports], used)
    return "\n\n".join(part for part in (f'"""{question}"""', imports, body) if part) + "\n"


def _used(file: Path, statements: Sequence[Statement]) -> list[Statement]:
    """What a file itself does, and the chosen values and included statements that it needs.

    An expression that is included is kept with the statement that it prepares, which stands below it.
    """
    kept: list[Statement] = []
    needed: set[tuple[Path, str]] = set()
    prepares = False
    for one in reversed(statements):
        if one.values:
            one.values = {name: value for name, value in one.values.items() if (one.file, name) in needed}
            one.text = assigned(one.values, one.comment) if one.values else ""
        is_own = one.file == file and not one.values
        is_needed = any((one.file, name) in needed for name in one.defines) or (prepares and not one.defines)
        is_kept = bool(one.text) and (is_own or is_needed)
        if is_kept:
            kept.append(one)
            needed |= {place for name in one.uses for place in _places(one.file, name)}
        prepares = is_kept and one.file != file
    return kept[::-1]


def _places(file: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Where a name that a file uses may be defined: there, in what it includes, or, as `run`, in what scripts begin with."""
    yield from ((file, name), *([(START, name)] if name == "run" else []))
    for included, names in _included(file):
        if name in names:
            yield from _places(included, name)


def _apart(statements: Sequence[Statement]) -> str:
    """Statements with blank lines between them as in the files, and two around functions."""
    text, after_function = "", False
    for one in statements:
        is_function = isinstance(one.tree.body[0], ast.FunctionDef)
        blank = "\n\n" if is_function or after_function else "\n" if one.text.startswith("\n") else ""
        text, after_function = f"{text}{blank}{one.text.strip(chr(10))}\n", is_function
    return text.strip("\n")


def _imports(statements: Sequence[Statement], used: set[str]) -> str:
    """One line a module, with what is used of it."""
    whole, taken = set(), dict[str, set[str]]()
    for statement in statements:
        node = statement.tree.body[0]
        for one in node.names:  # type: ignore[attr-defined]
            if (one.asname or one.name) not in used:
                continue
            if isinstance(node, ast.ImportFrom):
                taken.setdefault(str(node.module), set()).add(one.name)
            else:
                whole.add(f"import {one.name}" + (f" as {one.asname}" if one.asname else ""))
    named = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(taken.items())]
    return "\n".join([*sorted(whole), *named])
