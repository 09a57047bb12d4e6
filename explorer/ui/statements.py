"""The statements of a script: what each defines and uses, with what was chosen on the page filled in and decided."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

WIDE = 100  # characters of a list that stands on one line


@lru_cache(maxsize=2000)
def parsed(text: str) -> ast.Module:
    """The nodes of a text, kept for the next time. Raises SyntaxError."""
    return ast.parse(text)


class Source(str):
    """A value that is Python already."""


@dataclass
class Statement:
    """Lines of a script, with the comments before them."""

    text: str
    file: Path
    values: dict[str, Any] = field(default_factory=dict)  # what it assigns, if that was chosen on the page
    comment: str = ""

    @property
    def tree(self) -> ast.Module:
        """Its nodes."""
        return parsed(self.text)

    @property
    def defines(self) -> set[str]:
        """The names that it makes."""
        made = ({one.name} if isinstance(one, ast.FunctionDef) else _named(one, ast.Store) for one in self.tree.body)
        return set().union(*made)

    @property
    def uses(self) -> set[str]:
        """The names that it reads, other than a function's own."""
        return {name for one in self.tree.body for name in _named(one, ast.Load) - _own(one)}

    @property
    def imports(self) -> bool:
        """Whether it is an import."""
        return any(isinstance(one, ast.Import | ast.ImportFrom) for one in self.tree.body)


def _named(node: ast.AST, how: type[ast.expr_context]) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, how)}


def _own(node: ast.AST) -> set[str]:
    """The parameters and variables of a function; none of what is not one."""
    parameters = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    return parameters | _named(node, ast.Store) if isinstance(node, ast.FunctionDef) else set()


def literals(text: str) -> Iterator[tuple[str, bool]]:
    """The names that get a value at the top level, and whether it is a literal."""
    for node in parsed(text).body:
        if isinstance(node, ast.Assign):
            yield from ((name, _is_literal(value)) for name, value in _pairs(node))


def _pairs(node: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The names and values of an assignment to one name, or of one tuple to another."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [(name.id, one) for name, one in zip(target.elts, value.elts, strict=True) if isinstance(name, ast.Name)]
    return []


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def statements_of(file: Path, text: str, chosen: dict[str, Any]) -> list[Statement]:
    """The statements of a file, decided and filled in, without docstring and what is included."""
    text, before, found = _decided(text, chosen), 0, []
    lines = text.splitlines()
    for node in parsed(text).body:
        end = node.end_lineno or node.lineno
        own, before = "\n".join(lines[before:end]), end
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("explorer."):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        pairs = _pairs(node) if isinstance(node, ast.Assign) else []
        is_chosen = all(name in chosen and (_is_literal(old) or isinstance(chosen[name], Source)) for name, old in pairs)
        values = {name: chosen[name] for name, _ in pairs} if is_chosen else {}
        comment = own.partition("  # ")[2] if values and "\n" not in own.strip("\n") else ""
        found.append(Statement(assigned(values, comment) if values else own, file, values, comment))
    return found


def assigned(values: dict[str, Any], comment: str = "") -> str:
    """Values assigned to their names in one line; one long list, a value a line."""
    sources = [value if isinstance(value, Source) else repr(value) for value in values.values()]
    line = f"{', '.join(values)} = {', '.join(sources)}"
    comment = f"  # {comment}" if comment else ""
    (first, *_), many = values.values(), len(values) > 1
    if many or not isinstance(first, list) or len(line) <= WIDE:
        return line + comment
    rows = "".join(f"    {value!r},\n" for value in first)
    return f"{next(iter(values))} = [{comment}\n{rows}]"


def _decided(text: str, chosen: dict[str, Any]) -> str:
    """The text with one branch of each `if`, and of each conditional expression, that asks about chosen values only."""
    while True:
        node = next((one for one in ast.walk(parsed(text)) if _asks_only(one, chosen)), None)
        if node is None:
            return text
        answer = eval(compile(ast.Expression(node.test), "test", "eval"), {}, chosen)  # type: ignore[attr-defined]
        text = _branch(text, node, answer) if isinstance(node, ast.If) else _expression(text, node, answer)


def _asks_only(node: ast.AST, chosen: dict[str, Any]) -> bool:
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    names = [one for one in ast.walk(node.test) if isinstance(one, ast.Name | ast.Call | ast.Attribute | ast.Subscript)]
    return bool(names) and all(isinstance(one, ast.Name) and one.id in chosen for one in names)


def _branch(text: str, node: ast.If, answer: bool) -> str:
    """The text with the branch in place of the `if`."""
    lines, body = text.splitlines(keepends=True), node.body if answer else node.orelse
    first, last = node.lineno - 1, node.end_lineno
    kept = ""
    if body:
        kept = "".join(lines[body[0].lineno - 1 : body[-1].end_lineno])
        if kept.lstrip().startswith("elif"):
            kept = kept.replace("elif", "if", 1)
        kept = indent(dedent(kept), " " * node.col_offset)
    return "".join([*lines[:first], kept, *lines[last:]])


def _expression(text: str, node: Any, answer: bool) -> str:
    """The text with the branch in place of the conditional expression, and of the parentheses around it."""
    whole, kept = (ast.get_source_segment(text, one) or "" for one in (node, node.body if answer else node.orelse))
    return text.replace(f"({whole})", kept, 1) if f"({whole})" in text else text.replace(whole, kept, 1)
