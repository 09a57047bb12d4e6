"""What the README promises is there, and a wheel holds the package."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from explorer.bert.provenance import own_version
from explorer.export import papers

ROOT = Path(__file__).resolve().parents[2]
BESIDE = sorted((ROOT / "assets" / "guide" / "contributing").glob("*.md"))


@pytest.fixture(scope="module")
def front_matter(readme):
    return dict(re.findall(r"^(\w+): \"?([^\"\n]+)\"?$", readme.split("---")[1], flags=re.MULTILINE))


def test_a_space_gets_the_gradio_that_is_tested(front_matter, readme):
    pinned = re.search(r"^gradio==(\S+)", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)[1]
    assert front_matter["sdk"] == "gradio"
    assert front_matter["sdk_version"] == pinned
    assert tuple(map(int, front_matter["python_version"].split("."))) >= (3, 11)
    assert (ROOT / front_matter["app_file"]).is_file()
    assert len(front_matter["short_description"]) <= 60
    torch = re.search(r"^torch==\S+", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)[0]
    assert f"`{torch}`" in readme, "the command for the small torch names the pinned one"


def test_what_is_cited_is_the_same_everywhere(readme):
    lines = (ROOT / "CITATION.cff").read_text("utf-8").splitlines()
    cited = dict(line.strip("- ").split(": ", 1) for line in lines if ": " in line)
    cited = {name: value.strip('"') for name, value in cited.items()}
    shown = papers.APP.format(version=own_version())
    year, how = cited["date-released"][:4], readme.partition("\n## How to cite\n")[2].partition("\n## ")[0]
    for fact in (cited["title"], cited["name"], cited["version"], year):
        assert fact in shown
        assert fact in how
    assert cited["license"] == "Apache-2.0"
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)[1]
    assert f"version = {{{version}}}" in how


def test_contributing_leads_to_every_page_beside_it():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for path in BESIDE:
        assert f"({path.relative_to(ROOT).as_posix()})" in text


def test_the_checks_are_those_that_the_test_command_runs(readme):
    checks = re.search(r"<!-- test command -->.*?^(\.venv/bin/ruff .+?)$", readme, re.DOTALL | re.MULTILINE)[1]
    assert re.findall(r"\.venv/bin/([\w-]+)", checks) == ["ruff", "ruff", "lint-imports", "mypy", "python"]
    assert f"```bash\n{checks}\n```" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_requirement_is_pinned_with_a_reason():
    for file in ("requirements.txt", "requirements-mcp.txt", "tests/requirements.txt"):
        for line in (ROOT / file).read_text().splitlines():
            assert not line or line[0] in "#-" or re.fullmatch(r"\S+==\S+ +# .+", line), line


def test_the_lock_has_a_hash_for_each_pinned_version_but_that_of_torch():
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    entries = re.findall(r"^(\S+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", lock, flags=re.MULTILINE)
    assert len(entries) == len(re.findall("==", lock))
    locked = {name: version for name, version, _ in entries}
    pinned = re.findall(r"^(\S+)==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), flags=re.MULTILINE)
    for name, version in pinned:
        assert locked.get(name.lower().replace("_", "-")) == (None if name == "torch" else version), name
    assert "--require-hashes -r requirements.lock" in (ROOT / "Dockerfile").read_text("utf-8")


def test_the_folders_that_architecture_lists_are_those_of_the_package():
    (page,) = (path for path in BESIDE if path.stem == "architecture")
    told = re.search(r"## All folders.*?```\n(.*?)```", page.read_text("utf-8"), re.DOTALL)[1]
    folders = {path.name for path in (ROOT / "explorer").iterdir() if (path / "__init__.py").is_file()}
    assert set(re.findall(r"^  (\w+)/ ", told, flags=re.MULTILINE)) == folders
    for path in re.findall(r"^(\S+?)/? ", told, flags=re.MULTILINE):
        assert (ROOT / path).exists(), path


def test_what_holds_for_a_capability_holds_for_each():
    """The contracts of imports name the capabilities twice: as folders of which none imports another, and for what is inside."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (beside,) = (layer for layer in contracts[0]["layers"] if "fill_mask" in layer)
    (inside,) = (contract["containers"] for contract in contracts if "explorer.fill_mask" in contract.get("containers", ()))
    tabs = {path.parent.name for path in (ROOT / "explorer").glob("*/tab.py")} - {"page"}
    assert set(beside.split(" | ")) == {one.removeprefix("explorer.") for one in inside} == tabs


@pytest.fixture(scope="module")
def builder():
    return WheelBuilder(str(ROOT))


@pytest.fixture(scope="module")
def files(builder):
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
