"""Fixtures for all tests: the bundled model, tiny random checkpoints of every kind, and a block on the network."""

import gc
import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest

from tests.ports import free_port

for setting in ("BERT_EXPLORER_MODEL", "BERT_EXPLORER_PROFILE", "SPACE_ID", "HF_TOKEN"):  # a developer's must not decide a test
    os.environ.pop(setting, None)
os.environ["HF_HUB_OFFLINE"] = "1"  # no access to the Hub, which `no_network` would block anyway; test_hub.py plays a Hub
os.environ["BERT_EXPLORER_RUNS"] = tempfile.mkdtemp(prefix="runs-")  # runs of tests go to a temporary folder
os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's threads spin while they wait: 20 times slower on a busy machine


def few_authorities() -> str:
    """A file with the first of the certificates that clients trust: all take 20 ms a client, and no test leaves this machine."""
    end = "-----END CERTIFICATE-----\n"
    first = Path(certifi.where()).read_text("utf-8").partition(end)[0] + end
    file = Path(tempfile.mkdtemp(prefix="authorities-")) / "one.pem"
    file.write_text(first, "utf-8")
    return str(file)


os.environ["SSL_CERT_FILE"] = few_authorities()

sys.dont_write_bytecode = False  # the processes that tests start, and the next run, need not compile everything again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.disable()  # until all tests are collected: half of the import time would go into garbage collection

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = "the man dog cat went to store he she it was happy sad milk bought slow ##ing ##ed ##er ##ly ! ? . , ' - $ { } ( )"
VOCABULARY = [*SPECIALS, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS.split()]

VARIANTS = (
    "encoder_only",  # saved from BertModel: no 'bert.' prefix, no heads
    "no_pooler",  # the same without its pooler
    "masked_lm_only",  # saved from BertForMaskedLM: no pooler, no next-sentence head
    "old_names",  # LayerNorm.gamma and LayerNorm.beta, as in the checkpoints of 2018
    "pickled",  # pytorch_model.bin instead of safetensors
    "one_segment",  # type_vocab_size 1
    "classifier",  # fine-tuned: a pooler and a head that is not ours
)
HERE = {None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}


def pytest_collection_modifyitems(config, items):
    """Put what shares computed views first, for one process, and leave out the nightly tests unless `-m` names them."""
    shared = ("contents", "few_sentences")  # in the browser, pages are shared by the tests of a module
    items.sort(key=lambda item: ["browser" in item.keywords or name not in item.fixturenames for name in shared])
    if "nightly" in config.option.markexpr:
        return
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=nightly)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_collection_finish():
    """Freeze the imported objects, so that garbage collections skip them while the tests run."""
    gc.enable()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Fail a test that contacts another machine, even if the code handles the refusal."""
    asked = []
    connect, getaddrinfo = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in HERE:
            asked.append(address)
            raise ConnectionRefusedError("no network in tests")
        return connect(self, address)

    def guarded_getaddrinfo(host, *args, **kwargs):
        if (host.decode() if isinstance(host, bytes) else host) not in HERE:
            asked.append(host)
            raise socket.gaierror("no network in tests")
        return getaddrinfo(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    yield
    assert not asked


@pytest.fixture(scope="session")
def bundled():
    """The model in the repository."""
    import explorer

    return explorer.load()


@pytest.fixture(scope="session")
def tokenizer():
    """The tokenizer of the model in the repository, as transformers opens it."""
    from transformers import AutoTokenizer

    from explorer.bert.checkpoints import BUNDLED_FOLDER

    return AutoTokenizer.from_pretrained(BUNDLED_FOLDER)


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    import explorer

    return explorer.load(tiny_folder)


@pytest.fixture(scope="session")
def tiny_folder(make_tiny) -> Path:
    """A tiny random BertForPreTraining with its tokenizer, as save_pretrained leaves it."""
    return make_tiny()


@pytest.fixture(scope="session")
def variant_folders(make_tiny) -> dict[str, Path]:
    """One checkpoint for each of VARIANTS, with those weights of `tiny_folder` that it has."""
    folders = {}
    for variant in VARIANTS:
        folders[variant] = make_tiny(type_vocab_size=1) if variant == "one_segment" else make_tiny()
        become(variant, folders[variant])
    return folders


@pytest.fixture(scope="session")
def make_tiny(tmp_path_factory) -> Callable[..., Path]:
    """Writes the tiny checkpoint into a new folder; the arguments override entries of its BertConfig."""
    from tests.families import write_family  # which imports the vocabulary above

    sizes = {"num_hidden_layers": 2}
    return lambda **config: write_family(tmp_path_factory.mktemp("tiny") / "bert", "bert", **(sizes | config))


def become(variant: str, folder: Path) -> None:
    """Turn the tiny checkpoint in `folder` into one of VARIANTS."""
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    transformers.utils.logging.set_verbosity_error()
    weights = folder / "model.safetensors"
    tensors = load_file(weights)
    kinds = {
        "encoder_only": (transformers.BertModel, {}),
        "no_pooler": (transformers.BertModel, {"add_pooling_layer": False}),
        "masked_lm_only": (transformers.BertForMaskedLM, {}),
        "classifier": (transformers.BertForSequenceClassification, {}),
    }
    if variant in kinds:
        kind, arguments = kinds[variant]
        kind.from_pretrained(folder, **arguments).save_pretrained(folder)
    elif variant == "old_names":
        old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        renamed = {re.sub("|".join(old), lambda found: old[found[0]], key): value for key, value in tensors.items()}
        assert "bert.embeddings.LayerNorm.gamma" in renamed
        save_file(renamed, weights, metadata={"format": "pt"})
    elif variant == "pickled":
        torch.save(tensors, folder / "pytorch_model.bin")
        weights.unlink()


@pytest.fixture(scope="module")
def few_sentences():
    """The Corpus views read 40 sentences instead of the app's 800; readings are kept."""
    from tests.corpora import few_read

    with few_read() as few:
        yield few


@pytest.fixture(scope="session")
def contents(bundled, tmp_path_factory):
    """What every view shows of one pair of sentences by its name, computed once: `contents["attention/head"].content`."""
    from tests.contents import Contents

    return Contents(bundled, tmp_path_factory.mktemp)


@pytest.fixture(scope="session")
def refusal() -> Callable[..., str]:
    """Calls something that must raise an ExplorerError, checks that it says one plain sentence, and returns it.

    `typed` is what the person had typed: the only path that the sentence may show.
    """
    from explorer.core.errors import ExplorerError

    def refuse(kind: type[ExplorerError], call: Callable[[], object], typed: object = "") -> str:
        with pytest.raises(kind) as caught:
            call()
        sentence = str(caught.value)
        said = sentence.replace(str(typed), "") if str(typed) else sentence
        assert type(caught.value) is kind
        assert sentence.endswith(".")
        assert sentence.isprintable(), "one line, and no half characters"
        assert len(re.findall(r"[.!?]\s+[A-Z]", said)) < 2, "what happened, and what to do"
        assert not re.search(r"\w(Error|Exception)\b|NoneType|Traceback|<class|object at 0x|\bint\b|\bstr\b", said)
        assert not re.search(r"(^|[\s'\"(])[~/]\S*/", said), "no path of this machine"
        assert len(said) < 200
        return sentence

    return refuse


@pytest.fixture(scope="session")
def eager() -> Callable:
    """Runs transformers itself, eager and with all its outputs, on the checkpoint that an Explorer was loaded from."""
    import torch
    import transformers

    from tests.hooks import eager_bert

    read = {}

    def run(model, text_a: str, text_b: str = ""):
        if model.name not in read:
            read[model.name] = eager_bert(model), transformers.AutoTokenizer.from_pretrained(model.checkpoint.folder)
        reference, tokenizer = read[model.name]
        limit = reference.config.max_position_embeddings
        pair = (text_a, text_b) if text_b else (text_a,)
        encoded = tokenizer(*pair, truncation=True, max_length=limit, return_tensors="pt")
        if reference.config.type_vocab_size == 1:
            encoded.pop("token_type_ids")
        with torch.no_grad():
            return encoded, reference(**encoded, output_attentions=True, output_hidden_states=True)

    return run


@pytest.fixture(scope="session")
def readme() -> str:
    return (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")


@pytest.fixture(scope="session")
def guide() -> dict[str, str]:
    """The Markdown of the guide's pages, by name."""
    from explorer.guide.pages import FOLDER

    return {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.md")}


@pytest.fixture(scope="session")
def served(serving) -> str:
    """The address of the app, which this process serves as `python app.py` would."""
    return serving.local_url.rstrip("/")


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """An empty Hugging Face Hub, played on this machine, and an empty local cache."""
    from tests.hub import played  # it imports the client, which reads the environment

    with played(monkeypatch, tmp_path / "cache") as hub:
        yield hub


@pytest.fixture(scope="session")
def serving():
    from explorer import app

    port = free_port()
    blocks = app.launch("127.0.0.1", port)
    app.warm()
    yield blocks
    blocks.close()


@pytest.fixture(scope="session")
def locked():
    """The address, with a slash at its end, of an app with the name teacher and the password secret."""
    from explorer import app

    blocks = app.launch("127.0.0.1", free_port(), ("teacher", "secret"))
    yield blocks.local_url
    blocks.close()
