"""Every test can fail: it asserts something, itself or in a helper of the tests that it calls by name."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSERTING = ("assert", "check", "expect", "raises", "fail", "refusal", "wait_for")
"""How the names of methods, functions and fixtures begin that raise if something does not hold."""


def asserts(function: ast.AST) -> bool:
    """Whether a function has an assertion itself, raises something, or runs a program that has to succeed."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Raise) or (isinstance(node, ast.keyword) and ast.unparse(node) == "check=True"):
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")).startswith(ASSERTING):
            return True
    return False


def test_every_test_asserts_something():
    functions, helpers = {}, {}  # (module, name): its code; the helpers that it may call, by module and name
    for path in (ROOT / "tests").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        imported = [
            (node.module, one.name, one.asname or one.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for one in node.names
        ]
        known = {local: (source, name) for source, name, local in imported}
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[module, node.name] = node
        called = {
            key: {one.func.id for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
            for key, node in functions.items()
            if key[0] == module
        }
        helpers |= {key: {known.get(name, (module, name)) for name in names} for key, names in called.items()}
    holding = {key for key, node in functions.items() if asserts(node)}
    while more := {key for key in functions.keys() - holding if helpers[key] & holding}:
        holding |= more
    assert not [key for key in functions.keys() - holding if key[1].startswith("test_")]
