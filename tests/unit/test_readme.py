"""What the README promises is there, and what is there is in the README."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def front_matter(readme):
    return dict(re.findall(r"^(\w+): \"?([^\"\n]+)\"?$", readme.split("---")[1], flags=re.MULTILINE))


def test_a_space_gets_the_gradio_that_is_tested(front_matter):
    pinned = re.search(r"^gradio==(\S+)", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)[1]
    assert front_matter["sdk"] == "gradio"
    assert front_matter["sdk_version"] == pinned
    assert tuple(map(int, front_matter["python_version"].split("."))) >= (3, 11)
    assert (ROOT / front_matter["app_file"]).is_file()
    assert len(front_matter["short_description"]) <= 60


def test_every_tab_has_a_row(readme):
    from explorer import app

    blocks = app.build()
    labels = [block.label for block in blocks.blocks.values() if type(block).__name__ == "Tab"]
    assert len(labels) >= 8
    for label in labels:
        assert f"| **{label}** |" in readme, label


def test_every_argument_is_told(readme, capsys):
    from explorer import app

    with pytest.raises(SystemExit):
        app.parse(["--help"])
    for flag in re.findall(r"--(?!help)\w+", capsys.readouterr().out):
        assert flag in readme
    for setting in re.findall(r"BERT_EXPLORER_\w+", (ROOT / "explorer" / "app.py").read_text()):
        assert setting in readme


def test_every_promise_of_reliability_has_its_tests(readme):
    rows = re.findall(
        r"^\| (?!promised|---)(.+) \| (.+) \|$", readme.split("## Reliability")[1].split("\n## ")[0], flags=re.MULTILINE
    )
    assert len(rows) >= 10
    for promise, held_by in rows:
        tests = re.findall(r"tests/\w+/\w+\.py", held_by)
        assert tests, promise
        assert all((ROOT / test).is_file() for test in tests), promise


def test_every_benchmark_is_told(readme):
    from tests.benchmarks.__main__ import BENCHMARKS

    for name in BENCHMARKS:
        assert f"`{name}`" in readme, name


def test_files_that_are_shown_exist(readme):
    for path in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / path).exists(), path


def test_every_requirement_is_pinned_with_a_reason():
    for file in ("requirements.txt", "requirements-workers.txt", "requirements-mcp.txt", "tests/requirements.txt"):
        for line in (ROOT / file).read_text().splitlines():
            assert not line or line[0] in "#-" or re.fullmatch(r"\S+==\S+ +# .+", line), line


def test_the_layout_is_that_of_the_folders(readme):
    told = re.search(r"## Layout.*?```\n(.*?)```", readme, re.DOTALL)[1]
    folders = {path.name for path in (ROOT / "explorer").iterdir() if (path / "__init__.py").is_file()}
    assert set(re.findall(r"^  (\w+)/ ", told, flags=re.MULTILINE)) == folders
    for path in re.findall(r"^(\S+?)/? ", told, flags=re.MULTILINE):
        assert (ROOT / path).exists(), path
