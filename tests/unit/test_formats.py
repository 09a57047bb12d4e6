"""Files that visitors send: each format is declared once, and a large file is read apart, whatever it holds."""

import ast
import json
import threading
import time
from pathlib import Path

import pytest

from explorer.core import apart
from explorer.core.errors import InputError
from explorer.core.formats import Every, Foreign, Misfit, Own, parse, parse_each, values
from explorer.core.limits import VALUES
from explorer.experiments.compute.runs import FORMAT, Written
from explorer.finetune.compute.from_table import read_file
from explorer.finetune.compute.unpack import Settings, check_tokenizer
from explorer.tabs import VIEWS
from explorer.text.corpora import read_source, read_sources
from explorer.ui.settings import Upload
from tests.at_night import at_night
from tests.fuzz.files import tiny_texts

SOURCE = Path(apart.__file__).parents[1]
PARSERS = {
    *("loads", "load", "safe_load", "reader", "DictReader", "ZipFile"),
    *("load_tensors", "from_json", "validate_json", "Unpickler"),
}
NOT_OURS = {"torch", "store", "explorer", "checkpoints", "lessons"}  # whose `load` is no parser of a file's bytes
PARSED = {
    "core/formats.py": "the one place for a visitor's JSON",
    "core/apart.py": "an answer of our own process, which makes our records only",
    "text/delimited.py": "a sample of a table, apart when it is large",
    "text/tables.py": "a table, apart when it is large, after its values were counted",
    "finetune/compute/unpack.py": "the zip of a run, whose list is bounded before, with its log and head of at most 8 MB",
    "training/hub_data.py": "the card of a data set of the hub",
    "server/rooms.py": "a body of at most 256 KB",
    "server/refusals.py": "an answer of this app",
    "server/bounds.py": "an answer of this app",
    "ui/settings.py": "a part of an address",
    "bert/": "a model in a folder or of the hub, not a visitor's file",
}
OWN = {  # written by this app, and sent by nobody
    *("corpus/compute/atlas_file.py", "corpus/compute/file.py", "corpus/compute/neurons.py"),
    *("export/contents.py", "export/page_file.py", "page/first.py"),
    *("finetune/compute/export.py", "finetune/compute/store.py"),
    *("finetune/cards.py", "projection/points.py", "techniques/lens.py"),
    *("tokens/vocabulary.py", "hidden_states/word.py", "hidden_states/layers.py"),
    *("analysis/head_metrics.py", "experiments/compute/minimal_pairs.py"),
}


def parsers_in(path: Path) -> set[str]:
    """The calls in a module that parse bytes, as `json.loads`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARSERS:
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            found |= {f"{owner}.{node.func.attr}"} if owner not in NOT_OURS else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PARSERS - {"load", "reader"}:
            found.add(node.func.id)
    return found


def test_no_other_module_parses_what_visitors_send():
    found = {path.relative_to(SOURCE).as_posix(): parsers_in(path) for path in SOURCE.rglob("*.py")}
    assert any("json.loads" in calls for calls in found.values())
    others = {name: calls for name, calls in found.items() if calls and not name.startswith((*PARSED, *OWN))}
    assert not others, "declare its format with explorer.core.formats, or name here what it parses"


SMALL = (Path, read_file, read_sources)  # which leave the reading of large files to others that read apart


def uploads():
    """The functions that read what is uploaded on the page, by view and setting."""
    return {
        f"{view.name}.{name}": setting.read
        for view in VIEWS.values()
        for name, setting in view.settings.items()
        if isinstance(setting, Upload)
    }


def test_every_upload_is_read_apart_when_it_is_large():
    found = uploads()
    assert len(found) >= 8
    for name, read in found.items():
        assert read in SMALL or f"{read.__module__}:{read.__qualname__}" in apart.READERS, name


class Strict(Own):
    number: int
    texts: Every[str] = []  # noqa: RUF012 - pydantic copies it


class Loose(Foreign):
    number: int


WRONG = (
    *('{"number": 1, "more": 2}', '{"number": "1"}', '{"number": 1.5}', '{"number": true}', '{"number": NaN}'),
    *('{"number": 1, "texts": ["a", 2]}', '{"number": 1, "texts": ["\\ud800"]}', "{}", "[1]", "{", "", "[" * 100_000),
)


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_not_of_the_form_is_refused_without_its_values(text):
    for read in (parse, parse_each):
        with pytest.raises(Misfit) as misfit:
            list(read(Strict, text.encode(), VALUES))
        assert (misfit.value.args, misfit.value.__cause__, misfit.value.__suppress_context__) == ((), None, True)


@pytest.mark.parametrize("text", ['[{"number": 1}, {"number": 2}]', '{"number": 1, "a": 0}\r\n\n{"number": 2}\n'])
def test_objects_are_in_a_list_or_in_lines(text):
    assert [one.number for one in parse_each(Loose, text.encode(), VALUES)] == [1, 2]
    with pytest.raises(Misfit):
        list(parse_each(Loose, text.replace("2", '"2"').encode(), VALUES))


def test_too_many_values_get_a_sentence(monkeypatch, refusal):
    monkeypatch.setattr(VALUES, "most", 10)
    for read in (lambda data: parse(Strict, data, VALUES), lambda data: values(data, VALUES)):
        assert "more than 10 values" in refusal(InputError, lambda read=read: read(b'{"number": 1, "texts": [' + b'"",' * 10))


def test_a_hundred_thousand_unknown_names_are_one_error():
    text = json.dumps({str(number): number for number in range(100_000)}).encode()
    with pytest.raises(Misfit):
        parse(Settings, text, VALUES)
    with pytest.raises(Misfit):
        parse(Written, json.dumps({"format": FORMAT, "values": [0] * 100_000}).encode(), VALUES)


READ = {name: read for name, read in uploads().items() if read not in SMALL} | {
    "a source": read_source,
    "a tokenizer": check_tokenizer,
}
READ = {f"{read.__module__.rpartition('.')[2]}.{read.__name__}": read for read in READ.values()}
KINDS = ("[] in a list", '"" in lines', "names")
ONE_EACH = list(zip(READ, KINDS * len(READ), strict=False))
OF_TABLES = [(name, kind) for name in READ if "table" in name for kind in KINDS]


@pytest.mark.parametrize("case", at_night(dict.fromkeys([*ONE_EACH, *OF_TABLES]), but=ONE_EACH))
def test_a_million_tiny_values_hold_up_nobody(case, tmp_path):
    (name, kind), path = case, tmp_path / "a.json"
    path.write_text(tiny_texts()[kind])
    silence, over, told = 0.0, threading.Event(), ""

    def tick() -> None:
        nonlocal silence
        while not over.is_set():
            began = time.process_time()  # which goes on only while we compute, however busy the machine is
            time.sleep(0.005)
            silence = max(silence, time.process_time() - began)

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        READ[name](path)
    except InputError as error:
        told = str(error)
    finally:
        over.set()
        ticking.join()
    assert silence < 1
    assert len(told) < 300
