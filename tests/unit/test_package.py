"""The package: what a wheel holds, and that it works where there is no checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def builder():
    return WheelBuilder(str(ROOT))


@pytest.fixture(scope="module")
def files(builder):
    """The names of the files in the wheel."""
    return {file.distribution_path for file in builder.recurse_included_files()}


def test_the_wheel_holds_the_package_the_page_and_the_model(files):
    modules = {path.relative_to(ROOT) for path in (ROOT / "explorer").rglob("*.py")}
    assert set(map(str, modules)) <= files
    left_out = {"screenshots", "recipe", "__pycache__"}
    assets = {path for path in (ROOT / "assets").rglob("*") if path.is_file() and not left_out & {*path.parts}}
    assert {f"explorer/{path.relative_to(ROOT)}" for path in assets} <= files
    assert "explorer/assets/models/bert-l6-h384-uncased/model.safetensors" in files
    assert not [name for name in files if name.startswith(("tests", "assets")) or "screenshots" in name or "__pycache__" in name]


def test_it_needs_what_requirements_txt_says(builder):
    listed = re.findall(r"^([^#\s]+==\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    metadata = builder.metadata.core
    assert sorted(metadata.dependencies) == sorted(line.replace("_", "-") for line in listed)
    assert metadata.scripts == {"bert-explorer": "explorer.app:main"}


@pytest.mark.nightly  # by day, what the wheel is said to hold
def test_it_works_where_there_is_no_checkout(tmp_path):
    """As a wheel lays it out, run from elsewhere: its assets are found, and runs are kept outside of it."""
    site = tmp_path / "site"
    shutil.copytree(ROOT / "explorer", site / "explorer", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "explorer" / "assets").symlink_to(ROOT / "assets")
    asked = (
        "import explorer; from explorer.core.paths import RUNS; from explorer.app import parse; parse(['--port', '1']);"
        "print(explorer.__file__, RUNS, explorer.load().fill_mask('Paris is the capital of [MASK].')[0].candidates[0].token)"
    )
    place = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path)}}
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, **place, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(site / "explorer" / "__init__.py"), str(tmp_path / ".cache/bert-explorer/runs"), "france"]
