"""Each way into the app: what may come through it, and how it is sent."""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from tests.fuzz import files, runs
from tests.fuzz.calls import Call, links, open_link
from tests.fuzz.promises import require
from tests.fuzz.values import SENTENCES, THERE, names

FILES_FOR = ("projection-table", "fine-tune-file")
ZIPS_FOR = "fine-tune-load"
DATA_SET = "fine-tune-data-set"


@dataclass(frozen=True)
class Surface:
    """A way in: `send(example)` raises AssertionError when a promise is broken."""

    examples: st.SearchStrategy
    send: Callable


def endpoints(everything):
    """Endpoints with arguments that are mostly as they should be."""
    return _called([one for one in everything if one.is_public])


def handlers(everything):
    """The same of what the page calls."""
    return _called([one for one in everything if not one.is_public and not one.streams])


def _called(targets):
    calls = st.sampled_from(targets).flatmap(lambda target: st.tuples(st.just(target), target.calls()))
    return Surface(calls, lambda example: example[0].send(example[1]))


def tables(everything):
    """Files of rows, for each of those who read some."""
    readers = [one for one in everything if one.element in FILES_FOR]

    def send(example):
        (name, data), reader = example
        if uploaded := reader.visitor.upload(name, data):
            _give(reader, uploaded)

    return Surface(st.tuples(files.tables(), st.sampled_from(readers)), send)


def zips(everything, run):
    """Zips like that of a run, whose files are given."""
    (reader,) = (one for one in everything if one.element == ZIPS_FOR)

    def send(data):
        if uploaded := reader.visitor.upload("run.zip", data):
            _give(reader, uploaded)

    return Surface(files.zips(run), send)


def _give(reader, uploaded):
    """Let a handler read a file, and what comes after it, too."""
    reader.send(Call([uploaded], None, queued=False))


def opening(everything):
    (target,) = (one for one in everything if one.name.startswith("open_page"))
    return Surface(links, lambda parameters: open_link(target, parameters))


def models(visitor, model, examples):
    """Folders with a model, some of whose files are not as they should be."""

    def send(changed):
        folder = Path(tempfile.mkdtemp(dir=Path(model).parent))
        try:
            for file, data in changed.items():
                (folder / file).write_bytes(data)
            for endpoint, *data in (("fill_mask", SENTENCES[0], "", 3), ("attention", SENTENCES[0], SENTENCES[1], 1, 1)):
                body = {"data": [*data, str(folder)]}
                visitor.ask("POST", f"/gradio_api/run/{endpoint}", body, sent=str(folder))
        finally:
            shutil.rmtree(folder)

    return Surface(examples, send)


def revisions(visitor, model):
    """Names of models whose revision is the place of a file, which holds the place of a model: none may be looked into."""
    folder = Path(tempfile.mkdtemp(dir=Path(model).parent))
    (folder / "there.txt").write_text(str(model))

    def told(named):
        answer = visitor.ask("POST", "/gradio_api/run/tokens", {"data": [SENTENCES[0], "", named]}, sent=named)
        require(answer.data is None, "a name of the hub opened a folder of the machine")
        return answer.status, answer.json()["error"].replace(named, "")

    def send(name):
        place = f"{folder}/there.txt"
        there, absent = told(name.replace(THERE, place)), told(name.replace(THERE, f"{folder}/nowhere.txt"))
        require(there == absent, "it tells which files there are")

    ids = st.sampled_from(["a/b", "a", "nobody/nothing"])
    ways = st.sampled_from(["", "", "/", "../" * 20, "main/" + "../" * 20, "./"])
    return Surface(st.builds("{}@{}{}".format, ids, ways, st.just(THERE)), send)


def data_sets(everything, folder):
    """Names of data sets that could be folders beside the one that the app runs in, `folder`: no row of theirs may come."""
    (fetcher,) = (one for one in everything if DATA_SET in one.pressed)
    secret = "nobody but me may read this"
    place = Path(tempfile.mkdtemp(prefix="uploads", dir=folder))
    for own in (place, Path(folder)):
        (own / "secret.csv").write_text(f"text,label\n{secret},a\n")
    elements = [fetcher.visitor.components[one]["props"].get("elem_id") for one in fetcher.inputs]

    def send(name):
        named = name.replace(THERE, place.name)
        data = [named if element == DATA_SET else value for element, value in zip(elements, fetcher.first, strict=True)]
        answer = fetcher.send(Call(data, None, queued=False))
        require(secret not in json.dumps(answer.json()), "a folder of the machine was read as a data set of the hub")

    beside = f"../{Path(folder).resolve().name}"
    known = [THERE, f"./{THERE}", f"{THERE}/", f"{THERE}/.", f"{THERE}/..", ".", "..", beside, "csv", "text", "./."]
    return Surface(st.sampled_from(known) | names, send)


def headers(visitor, model):
    """The same with weights whose header lies."""
    whole = read_folder(model)
    lies = files.weights(whole["model.safetensors"]).map(lambda weights: {**whole, "model.safetensors": weights})
    return models(visitor, model, lies)


def folders(visitor, model):
    """The same with any of the files."""
    return models(visitor, model, files.folders(read_folder(model)))


def read_folder(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def trained(folder):
    """The files in the zip of a run of the model in a folder, which nobody else has."""
    import explorer
    from explorer.finetune.compute import export
    from explorer.training.examples import Examples
    from tests.learning import learn_run

    given = Examples(*zip(*[(f"{word} {number}", word) for number in range(6) for word in ("happy", "sad")], strict=True))
    with zipfile.ZipFile(export.pack(learn_run(explorer.load(folder), given, epochs=1))) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    return {**found, "settings.json": json.dumps(json.loads(found["settings.json"]) | {"model": "/gone/bert"}).encode()}


def long_runs(everything, watch):
    """Long runs of a character or two, wherever a text may be, while others are answered."""
    return Surface(runs.ways(everything), lambda way: require(watch.promptly(lambda: (way[0](*way[1:]), True)), "it was sent"))
