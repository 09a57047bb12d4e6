"""What the README promises is there, and what is there is in the README."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from PIL import Image

from explorer.lessons import claims
from explorer.lessons.reading import claim, lessons
from explorer.outlets import links
from explorer.page.examples import first_subject
from explorer.views.finetune.example_settings import STARTER

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
CLAIMS = re.findall(r"<!-- claim: (.+) -->", README.read_text("utf-8"))


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


def section(readme: str, heading: str) -> str:
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", readme, flags=re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("text", CLAIMS)
def test_what_the_tour_says_of_the_model_is_true(text):
    said = claim(text)
    assert claims.holds(said), f"it is {str(claims.found(said))[:200]}"


def test_every_step_of_the_tour_opens_what_it_tells_of(readme):
    steps = re.findall(r"^\d+\. (.*?)(?=^\d+\. |\Z)", section(readme, "A five-minute tour"), flags=re.MULTILINE | re.DOTALL)
    assert 5 <= len(steps) <= 8
    for step in steps:
        addresses = re.findall(r"\]\((http://127\.0\.0\.1:7860/\S+)\)", step)
        assert addresses, step
        for address in addresses:
            parameters = dict(parse_qsl(urlsplit(address).query))
            place = links.read(parameters, first_subject())
            assert (place.told, place.tab) == ((), parameters["tab"])


def test_a_head_learns_in_the_tour_what_is_told():
    examples = [[line, label] for label, lines in STARTER for line in lines.splitlines()]
    learnt = claims.ASKED["train_head"](examples, pooling="mean", epochs=0)
    assert [len(lines.splitlines()) for _, lines in STARTER] == [6, 6, 6]
    assert learnt["held_out_accuracy"] > 0.7
    assert not any("eagle" in text.lower() for text, _ in examples)
    assert claims.ASKED["classify"](["An eagle circled above the valley."], learnt["head"])["labels"] == ["animal"]


def test_teachers_are_told_of_every_lesson(readme):
    for lesson in lessons():
        assert f"| {lesson.number} | {lesson.title} | {lesson.minutes} |" in readme


def test_the_pictures_at_the_top_are_small(readme):
    most = {"overview.webp": 1_500_000, "overview-still.webp": 100_000, "film.webp": 200_000}
    for name, bytes_ in most.items():
        assert (ROOT / "assets" / "screenshots" / name).stat().st_size < bytes_
        assert f"assets/screenshots/{name}" in readme


def test_the_first_picture_moves_long_enough_to_be_read():
    with Image.open(ROOT / "assets" / "screenshots" / "overview.webp") as picture:
        times = []
        for frame in range(picture.n_frames):
            picture.seek(frame)
            picture.load()
            times.append(picture.info["duration"])
    assert 20_000 < sum(times) < 60_000


def test_the_version_to_cite_is_this_one(readme):
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)[1]
    assert f"version = {{{version}}}" in section(readme, "How to cite")


def test_links_within_the_page_lead_somewhere(readme):
    headings = {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in re.findall(r"^#+ (.+)", readme, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", readme)) <= headings


def test_files_that_are_shown_exist(readme):
    for path in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / path).exists(), path


def test_every_requirement_is_pinned_with_a_reason():
    for file in ("requirements.txt", "requirements-workers.txt", "requirements-mcp.txt", "tests/requirements.txt"):
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


def test_the_layout_is_that_of_the_folders(readme):
    told = re.search(r"## Layout.*?```\n(.*?)```", readme, re.DOTALL)[1]
    folders = {path.name for path in (ROOT / "explorer").iterdir() if (path / "__init__.py").is_file()}
    assert set(re.findall(r"^  (\w+)/ ", told, flags=re.MULTILINE)) == folders
    for path in re.findall(r"^(\S+?)/? ", told, flags=re.MULTILINE):
        assert (ROOT / path).exists(), path
