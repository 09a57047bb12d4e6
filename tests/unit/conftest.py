"""Which modules of this folder take long (`-m "not browser and not slow"` goes without them), and where their scripts run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gradio_client import Client

from explorer.page.shell import build_shell
from tests.away import Away, away

HERE = Path(__file__).parent
NAMES = """
    answering api atlas classroom code corpus corpus_layers corpus_neurons data_files every_view examples
    families few findings finetune finetune_answers finetune_words guide head_atlas hostile hub isolation lessons
    more_findings notebook operating overload readme page_file patterns poison projection readme recipe
    rooms server sheets standard tables tagging take_home training view_api
"""
SLOW = set(NAMES.split())


def pytest_collection_modifyitems(items):
    """Marks their tests."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.path.stem.removeprefix("test_") in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Away]:
    """Runs scripts without this app."""
    with away() as ready:
        yield ready


@pytest.fixture(scope="session")
def page():
    """The page as it is built, and the components of its shell; to look at only."""
    return build_shell()


@pytest.fixture(scope="module")
def client(served):
    """Gradio's client of the app. Making one asks the hub for a list of agents; nothing here may leave the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
        yield Client(served, verbose=False)


@pytest.fixture(params=["bundled", "tiny"])
def model(request):
    """The model in the repository, and a tiny one."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def own_runs(tmp_path, monkeypatch) -> Path:
    """The folder in which the test keeps runs and what it reads of corpora; nothing kept by an earlier test is used."""
    from explorer.corpus import source
    from explorer.corpus.compute import atlas, neurons, reading

    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path / "runs"))
    for kept in (reading._opened, reading._dtypes, neurons._opened, atlas._opened, source._found):
        kept.clear()
    return tmp_path / "runs"


@pytest.fixture
def write(tmp_path):
    """Writes a file for a reader, and returns its path."""

    def write(data, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write
