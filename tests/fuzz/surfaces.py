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
from tests.fuzz.calls import Call, bodies, links, open_link, places, targets
from tests.fuzz.promises import require
from tests.fuzz.values import SENTENCES, THERE, hostile, names, sentences

FILES_FOR = ("projection-table", "fine-tune-table")
ZIPS_FOR = "fine-tune-load"
DATA_SET = "fine-tune-data-set"
ROOM_ACTIONS = "ask reveal stop follow teach train strike door join guess example try take-back nothing"
ROOM_NAMES = "name kind query hidden covered labels number id open guess label text"


@dataclass(frozen=True)
class Surface:
    """A way in: `send(example)` raises AssertionError when a promise is broken."""

    name: str
    examples: st.SearchStrategy
    send: Callable
    weight: float


def functions(everything):
    """Every endpoint, every handler of the page, or some of them."""
    return [Surface(one.name, one.calls(), one.send, one.weight) for one in everything]


def requests(visitor):
    """Requests that are none."""

    def send(example):
        visitor.ask("POST", f"/gradio_api/{example[0]}", example[1])

    return Surface("requests", st.tuples(places, bodies), send, 100)


def tables(everything):
    """Files of rows, for each of those who read some."""
    readers = [one for one in everything if one.element in FILES_FOR]

    def send(example):
        (name, data), reader = example
        if uploaded := reader.visitor.upload(name, data):
            _give(reader, uploaded)

    return Surface("tables", st.tuples(files.tables(), st.sampled_from(readers)), send, 100)


def zips(everything, run):
    """Zips like that of a run, whose files are given."""
    (reader,) = (one for one in everything if one.element == ZIPS_FOR)

    def send(data):
        if uploaded := reader.visitor.upload("run.zip", data):
            _give(reader, uploaded)

    return Surface("zips", files.zips(run), send, 60)


def tiny_values(everything, run):
    """Files of a million tiny values, for everything that takes a file; then health is asked of the server."""
    visitor = everything[0].visitor
    boxes = {place for place, one in visitor.components.items() if one["type"] in ("uploadbutton", "file")}
    taken = [one for one in everything if boxes & set(one.triggers)]

    def send(example):
        (name, data), zipped, reader = example
        sent = ("run.zip", zipped) if reader.element == ZIPS_FOR else (name, data)
        if uploaded := visitor.upload(*sent):
            _give(reader, uploaded)
            visitor.others.look()

    return Surface("tiny values", st.tuples(files.tiny(), files.tiny_zips(run), st.sampled_from(taken)), send, 30)


def _give(reader, uploaded):
    """Let a handler read a file, and what comes after it, too."""
    reader.send(Call([uploaded], None, queued=False))


def rooms(visitor):
    """What a teacher, somebody of the room and a stranger do in a room, which goes on."""
    opened = visitor.ask("POST", "/bx/rooms").json()
    path = f"/bx/rooms/{opened['word']}"
    seat = visitor.ask("POST", f"{path}/join", {"name": "Ann"}).json()
    visitor.ask("POST", f"{path}/teach", {"labels": ["good", "bad"]}, _bearer(opened["key"]))
    visitor.ask("POST", f"{path}/example", {"label": "good", "text": "It was fine."}, _bearer(seat["token"]))

    def send(example):
        token, action, body = example
        visitor.ask("POST", f"{path}/{action}", body, _bearer(token))
        visitor.ask("POST", f"{path}/door", {"open": True}, _bearer(opened["key"]))

    named = st.dictionaries(
        st.sampled_from(ROOM_NAMES.split()), hostile | sentences | st.sampled_from(["blank", "pair", "target"]), max_size=4
    )
    tokens = st.sampled_from([opened["key"], seat["token"], "nobody"])
    return Surface("rooms", st.tuples(tokens, st.sampled_from(ROOM_ACTIONS.split()), named | hostile), send, 100)


def _bearer(token):
    return {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}


def opening(everything):
    """Links to the page."""
    (target,) = (one for one in everything if one.name.startswith("open_page"))
    return Surface("links", links, lambda parameters: open_link(target, parameters), 60)


def models(visitor, model, name, examples):
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

    return Surface(name, examples, send, 60)


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
    return Surface("revisions", st.builds("{}@{}{}".format, ids, ways, st.just(THERE)), send, 20)


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
    return Surface("data sets", st.sampled_from(known) | names, send, 20)


def headers(visitor, model):
    """The same with weights whose header lies."""
    whole = read_folder(model)
    lies = files.weights(whole["model.safetensors"]).map(lambda weights: {**whole, "model.safetensors": weights})
    return models(visitor, model, "safetensors headers", lies)


def folders(visitor, model):
    """The same with any of the files."""
    return models(visitor, model, "model folders", files.folders(read_folder(model)))


def read_folder(folder):
    """The files in a folder, by name."""
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def trained(folder):
    """The files in the zip of a run of the model in a folder, which nobody else has."""
    import explorer
    from explorer.core.steps import finished
    from explorer.finetune.compute import export
    from explorer.finetune.compute.task import make_plan
    from explorer.finetune.compute.text_tasks import text_task
    from explorer.finetune.compute.training import new_run, run_training
    from explorer.training.examples import Examples

    given = Examples(*zip(*[(f"{word} {number}", word) for number in range(6) for word in ("happy", "sad")], strict=True))
    model = explorer.load(folder)
    result = finished(run_training(text_task(model, given, make_plan(model, -1, "mean", epochs=1))))
    with zipfile.ZipFile(export.pack(new_run(result, "Test"))) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    return {**found, "settings.json": json.dumps(json.loads(found["settings.json"]) | {"model": "/gone/bert"}).encode()}


def long_runs(everything):
    """Long runs of a character or two, wherever a text may be."""
    return Surface("long runs", runs.ways(everything), lambda way: way[0](*way[1:]), 60)


def all_surfaces(visitor, model):
    """Every way in, for the long run."""
    everything, run = targets(visitor, model), trained(model)
    return [
        *functions(everything),
        requests(visitor),
        rooms(visitor),
        tables(everything),
        zips(everything, run),
        tiny_values(everything, run),
        opening(everything),
        long_runs(everything),
        headers(visitor, model),
        folders(visitor, model),
        revisions(visitor, model),
        data_sets(everything, Path(model).parents[1]),
    ]
