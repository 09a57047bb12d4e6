"""The first calls after a start: the engine is loaded meanwhile, and every call gets its answer."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import app
from explorer.core.errors import ModelError
from explorer.core.lazy import Library
from explorer.server.routes import no_model
from tests.waiting import at_once

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "predict"  # to take along, beside a model in a zip
HEAVY = "torch transformers matplotlib sklearn scipy umap numba datasets joblib plotly.io.json"
IMPORTED = f"""
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*(name for name in "{HEAVY}".split() if name in sys.modules))
"""


def test_no_module_loads_the_engine_when_it_is_imported():
    """No function loads it unseen, either: ruff refuses imports there (PLC0415)."""
    paths = [path.relative_to(ROOT) for path in sorted((ROOT / "explorer").rglob("*.py")) if path.stem != PROGRAM]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]
    assert len(names) > 300
    found = subprocess.run([sys.executable, "-c", IMPORTED, *names], capture_output=True, text=True, cwd=ROOT)
    assert (found.stdout.strip(), found.returncode) == ("", 0), found.stderr


@pytest.fixture
def slow_library(tmp_path, monkeypatch):
    """A package that replaces itself in `sys.modules` at the end of its import, as transformers does, and a submodule."""
    folder = tmp_path / "slow_library_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "import sys, time, types\n"
        "time.sleep(0.2)\n"
        "module = types.ModuleType(__name__)\n"
        "module.__path__, module.__spec__, module.answer, module.load = __path__, __spec__, 42, len\n"
        "sys.modules[__name__] = module\n"
    )
    (folder / "part.py").write_text("value = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder.name
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


def test_threads_that_come_while_a_library_is_loaded_get_all_of_it(slow_library, monkeypatch):
    prepared = []
    library = Library(slow_library, lambda: prepared.append(library.answer))  # what prepares it may use it
    assert at_once(8, lambda _: (library.answer, library.part.value)) == [(42, 7)] * 8
    assert prepared == [42]
    with pytest.raises(AttributeError, match="nothing"):
        _ = library.nothing
    assert library.load is len, "it may have any name"
    monkeypatch.setattr(sys.modules[slow_library], "answer", 43)
    assert library.answer == 43, "what a test changed there"


def test_a_library_that_is_not_installed_says_so_when_it_is_used():
    library = Library("no_library_of_this_name")
    for name in ("__wrapped__", "_mock_name"):  # what tools ask of every name
        assert not hasattr(library, name)
    with pytest.raises(ImportError):
        _ = library.answer


def test_the_model_is_loaded_when_that_becomes_possible(monkeypatch, caplog, capsys):
    outcomes, pauses = [ValueError("secret"), ModelError("It is not there."), ModelError("It is not there."), None], []

    class First:
        @property
        def trace(self):
            if (outcome := outcomes.pop(0)) is not None:
                raise outcome

    def sleep(pause):
        pauses.append(pause)
        assert no_model.is_set(), "which operators are told meanwhile"

    monkeypatch.setattr("explorer.app.first_subject", First)
    monkeypatch.setattr("explorer.app.time.sleep", sleep)
    with caplog.at_level(logging.WARNING, "explorer"):
        app.warm()
    assert not outcomes
    assert pauses == [1, 2, 4]
    assert not no_model.is_set()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING", "WARNING"]
    assert capsys.readouterr().out == "It is not there.\n"
