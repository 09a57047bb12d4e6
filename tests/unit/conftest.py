"""Which modules of this folder take long (`-m "not browser and not slow"` goes without them), and where their scripts run."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from gradio_client import Client

from explorer.page.shell import build_shell
from explorer.text.corpora import Corpus
from tests.asking import ask
from tests.away import Away, away
from tests.corpora import part_of_corpus
from tests.stranger import Stranger

HERE = Path(__file__).parent
NAMES = """
    answering api atlas classroom code corpus corpus_layers corpus_neurons every_view examples
    families few findings finetune finetune_answers finetune_words guide head_atlas hostile hub isolation lessons
    more_findings notebook operating overload readme page_file patterns poison projection readme recipe
    rooms server sheets standard tables tagging take_home taking training view_api
"""
SLOW = set(NAMES.split())


def pytest_collection_modifyitems(items):
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


@pytest.fixture(scope="session")
def fetch(served):
    """Asks the app: `fetch("POST", "/gradio_api/run/tokens", {"data": [...]}, Origin=...)` is status, headers and body."""
    return partial(ask, served)


@pytest.fixture(scope="module")
def stranger(served) -> Stranger:
    return Stranger(served)


@pytest.fixture(params=["bundled", "tiny"])
def model(request):
    """The model in the repository, and a tiny one."""
    return request.getfixturevalue(request.param)


@contextmanager
def runs_in(folder: Path) -> Iterator[Path]:
    """Runs and what is read of corpora are kept in a folder; nothing that was kept before is used."""
    from explorer.corpus import heads, source
    from explorer.corpus.compute import atlas, neurons, reading

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERT_EXPLORER_RUNS", str(folder))
        for kept in (reading._opened, reading._dtypes, neurons._opened, atlas._opened, source._found, heads._telling):
            kept.clear()
        yield folder


@pytest.fixture
def own_runs(tmp_path) -> Iterator[Path]:
    """The folder in which the test keeps runs and what it reads of corpora."""
    with runs_in(tmp_path / "runs") as folder:
        yield folder


@pytest.fixture(scope="module")
def runs_of_module(tmp_path_factory) -> Iterator[Path]:
    """The same for all tests of a module: one reading of each corpus."""
    with runs_in(tmp_path_factory.mktemp("runs")) as folder:
        yield folder


@pytest.fixture(scope="module")
def part(runs_of_module) -> Iterator[Corpus]:
    """The corpus's first sentences, which the views of the Corpus tab read in place of the whole."""
    few = part_of_corpus(120)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("explorer.corpus.source.built_in", lambda: few)
        yield few


@pytest.fixture
def write(tmp_path):
    """Writes a file for a reader, and returns its path."""

    def write(data, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write
