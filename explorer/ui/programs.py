"""Programs that compute a view's numbers with transformers alone: the sections of `assets/programs.py`, filled in for a view.

A section begins with `# %% name`, as editors mark cells. A program is its section, with the imports and the BEGINNINGS whose
names it uses. A value assigned in a line of its own (`layer = 1`) is replaced by that of the page. What was typed is written with
`repr`, which keeps it on one line and inside its quotes.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from symtable import symtable
from typing import Any

from explorer.bert.checkpoints import BUNDLED, TUNED
from explorer.bert.hub import Place
from explorer.core.paths import ASSETS
from explorer.text.pieces import with_own_mask
from explorer.ui.subject import Subject
from explorer.ui.view import View

SCRIPTS = ASSETS / "programs.py"
BEGINNINGS = ("shipped", "start", "inputs", "without")  # each uses names of those before it only
SECTION = re.compile(r"^# %% (\w+).*\n", re.MULTILINE)
ASSIGNMENT = re.compile(r"(?P<name>\w+) = .*?(?P<comment>  # .*)?")
WIDE = 100  # characters of a list on one line

Values = dict[str, Any] | None


@dataclass(frozen=True)
class Program:
    """A program for a view. It does not fit if another setting than `settings` differs from its default.

    The selection and these settings go by their names; `values` returns what else is filled in, or None if the program does not
    fit after all.
    """

    section: str
    settings: tuple[str, ...] = ()
    values: Callable[[Any, Subject], Values] = lambda view, subject: {}
    every_family: bool = False  # otherwise it names the parts of BERT

    def write(self, view: View, subject: Subject) -> str:
        """Its text for a view; '' if it does not fit."""
        if not self._fits(view, subject) or (values := self.values(view, subject)) is None:
            return ""
        text_a, text_b = as_typed(subject, subject.text_a, subject.text_b)
        chosen = subject.selection
        given: dict[str, Any] = {"text_a": text_a, "text_b": text_b or None}
        given |= {"token": subject.token} if text_a else {}
        given |= {"layer": chosen.attention_layer + 1, "head": chosen.head}
        given |= {name: getattr(view, name) for name in self.settings} | values
        if subject.model.name != BUNDLED:
            given["MODEL"] = _place(subject).id
        return self.with_values(view.question, given, _place(subject).revision)

    def with_values(self, question: str, given: Mapping[str, Any], revision: str | None = None) -> str:
        """The program with these values: imports, beginnings, and its own section."""
        imports, sections = read_scripts()
        parts = [_fill(sections[self.section], given, revision)]
        needed, _ = _names(parts[0])
        for name in reversed(BEGINNINGS):
            beginning = _fill(sections[name], given, revision)
            needs, makes = _names(beginning)
            if makes & needed:
                parts.insert(0, beginning)
                needed |= needs
        lines = sorted(
            {line for name, line in imports.items() if name in needed}, key=lambda line: (line.startswith("from "), line)
        )
        parts = [f"\n{part}\n" if part.startswith("def ") else part for part in parts]
        return "\n\n".join([f'"""{question}"""', "\n".join(lines), *parts]) + "\n"

    def _fits(self, view: View, subject: Subject) -> bool:
        model = subject.model
        is_bert = model.family.model_type == "bert" and model.capabilities.segments
        is_anywhere = not model.name.startswith(TUNED)  # and not only in the memory of the app
        return is_anywhere and (self.every_family or is_bert) and view.list_changes().keys() <= set(self.settings)


def program(section: str, *settings: str, **more: Any) -> Program:
    return Program(section, settings, **more)


@cache
def read_scripts() -> tuple[dict[str, str], dict[str, str]]:
    """The lines that import, each by the name that it binds; and the sections by name."""
    head, *rest = SECTION.split(SCRIPTS.read_text("utf-8"))
    imports: dict[str, str] = {}
    for node in ast.parse(head).body:
        if isinstance(node, ast.Import):
            imports |= {alias.asname or alias.name: f"import {ast.unparse(alias)}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imports |= {alias.name: f"from {node.module} import {alias.name}" for alias in node.names}
    return imports, {name: text.strip("\n") for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _names(code: str) -> tuple[set[str], set[str]]:
    """The names that code needs from elsewhere, and those that it makes."""
    top = symtable(code, "program", "exec")
    made = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    tables = list(top.get_children())
    for table in tables:  # functions and comprehensions, whose own names are not global
        used |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        tables += table.get_children()
    return used - made, made


def as_typed(subject: Subject, *texts: str) -> list[str]:
    """The texts, with the model's own mask token in place of [MASK]."""
    return [with_own_mask(text, subject.model.tokenizer.mask_token)[0] for text in texts]


def _place(subject: Subject) -> Place:
    model = subject.model
    return Place.of(model.name) if model.from_hub else Place(model.name, None)


def _fill(code: str, given: Mapping[str, Any], revision: str | None) -> str:
    """Code with the values of the page in the lines that assign them."""
    if revision:
        code = code.replace("from_pretrained(MODEL", f"from_pretrained(MODEL, revision={revision!r}")
    return "\n".join(_fill_line(line, given) for line in code.splitlines())


def _fill_line(line: str, given: Mapping[str, Any]) -> str:
    found = ASSIGNMENT.fullmatch(line)
    if not found or found["name"] not in given:
        return line
    value, comment = given[found["name"]], found["comment"] or ""
    written = repr(value)
    if isinstance(value, list) and len(written) > WIDE:
        rows = "".join(f"    {row!r},\n" for row in value)
        return f"{found['name']} = [{comment}\n{rows}]"
    return f"{found['name']} = {written}{comment}"
