"""Data sets of a hub that is played: what is read of them, and what is never read for them."""

import io
from dataclasses import replace

import datasets
import pandas as pd
import pytest

from explorer.core.errors import InputError
from explorer.core.limits import TEXTS
from explorer.core.steps import finished
from explorer.corpus.search import Search
from explorer.corpus.source import HUB as CORPUS_HUB
from explorer.finetune.examples import ExamplesView
from explorer.finetune.recipe import HUB
from explorer.training import hub_data
from explorer.training.hub_data import NO_NAME, fetch_data_set
from explorer.ui.subject import Subject
from tests.waiting import drain

ROWS = b"text,label\nI love it,good\nI hate it,bad\n"
NAME = "someone/reviews"
SECRET = "what another visitor uploaded"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that the app runs in, beside one with a file of somebody else's."""
    for place in ("tmp", "app/runs", "app/someone/reviews", "app"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "secret.csv").write_text(f"text,label\n{SECRET},a\n")
        (tmp_path / place / "secret.txt").write_text(SECRET)
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path


@pytest.fixture(autouse=True)
def online(hub, monkeypatch):
    """The library asks the hub that is played, too; it has looked at the environment already."""
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)


def put(hub, card="", **files):
    hub.repos[f"datasets/{NAME}"] = {"README.md": f"---\n{card}\n---\n".encode(), **(files or {"train.csv": ROWS})}


@pytest.mark.parametrize("path", ["train.csv", "data/train-00000-of-00001.parquet", "default/train.jsonl"])
def test_rows_come_from_the_hub_and_not_from_a_folder_of_the_same_name(hub, folder, path):
    frame = pd.read_csv(io.BytesIO(ROWS))
    written = {"csv": ROWS, "parquet": frame.to_parquet(), "jsonl": frame.to_json(orient="records", lines=True).encode()}
    put(hub, **{path: written[path.rpartition(".")[2]], "a/test.csv": b"text,label\nno,no\n", "infos.json": b"{}"})
    table = finished(fetch_data_set(f" {NAME} "))
    assert table.columns == ("text", "label")
    assert table.rows == (("I love it", "good"), ("I hate it", "bad"))
    assert table.about == f"2 rows of {NAME}, file {path}."
    assert any("/resolve/" in asked and asked.endswith(path) for _, asked in hub.asked)


def test_of_a_large_file_the_first_rows_are_read(hub, monkeypatch):
    put(hub, **{"train.csv": ROWS + b"It is long,good\n" * 400_000})
    table = finished(fetch_data_set(NAME))
    assert len(table.rows) == TEXTS.most
    assert table.rows[-1] == ("It is long", "good")


def test_a_column_of_a_data_set_is_a_corpus(hub, folder, refusal, tiny):
    put(hub)
    asked = Search(source=CORPUS_HUB, data_set=f" {NAME} ", compare="word")
    assert asked.corpus is None
    subject = Subject.of(tiny.trace("it"))
    steps, outcome = drain(asked.on_data_set(subject, None))
    assert any(NAME in step["about"] for step in steps)
    found = replace(asked, **outcome.settings)
    assert found.corpus.texts == ["I love it", "I hate it"]
    assert replace(found, column="label").corpus.texts == ["good", "bad"]
    assert NAME in found.corpus.counted
    assert replace(found, data_set="someone/else").corpus is None, "a name that was not fetched"
    hub.down = True
    refusal(InputError, lambda: finished(asked.on_data_set(subject, None)))


NO_NAMES = ("../tmp", "..", ".", "./runs", ".hidden", "a/..", "/etc", "~/x", "a/b/c", "a\\b", "hf://datasets/a/b", "a..b/c")


@pytest.mark.parametrize("name", [*NO_NAMES, "é/b", "x" * 97])
def test_what_is_no_name_is_refused_before_anything_is_read(name, hub, folder, refusal):
    assert refusal(InputError, lambda: finished(fetch_data_set(name))) == NO_NAME
    assert not hub.asked


@pytest.mark.parametrize("name", ["runs", "csv", "text", "parquet", "someone/reviews", "buckets/x"])
def test_what_is_there_as_a_folder_or_a_format_is_asked_of_the_hub(name, hub, folder, refusal):
    sentence = refusal(InputError, lambda: finished(fetch_data_set(name)))
    assert sentence.startswith(f"The data set {name} cannot be fetched")
    assert sentence == refusal(InputError, lambda: finished(fetch_data_set("no/such"))).replace("no/such", name)


FORBIDDEN = ("{folder}/tmp/secret.csv", "../../secret.csv", "file://{folder}/tmp/secret.csv", "x.csv::{folder}/tmp/secret.csv")
FORBIDDEN += ("http://localhost:1/x.csv",)


@pytest.mark.parametrize("path", [*FORBIDDEN, "a/*.csv"])
def test_a_file_whose_name_leads_elsewhere_is_not_chosen(folder, path):
    with pytest.raises(ValueError, match="empty"):
        hub_data._choose([path.format(folder=folder)])
    assert hub_data._choose([path, "other.csv"]) == "other.csv"


@pytest.mark.parametrize("path", FORBIDDEN)
@pytest.mark.parametrize("where", ["data_files: '{path}'", "data_dir: '{path}'"])
def test_a_card_opens_no_file_of_the_machine_and_no_address(hub, folder, monkeypatch, path, where):
    monkeypatch.chdir(folder / "tmp")
    put(hub, f"configs:\n- config_name: default\n  {where.format(path=path.format(folder=folder))}")
    assert finished(fetch_data_set(NAME)).rows == (("I love it", "good"), ("I hate it", "bad"))
    assert not [asked for _, asked in hub.asked if "README" in asked]


def test_the_page_says_how_far_it_is_and_what_to_do_after_a_failure(hub, folder):
    put(hub)
    view, subject = ExamplesView(source=HUB, data_set=NAME), Subject("any", "", "")
    steps = view.on_fetch(subject, None)
    assert next(steps) == {"about": f"Asking the hub for {NAME}."}
    settings = finished(steps).settings
    assert settings["file"].rows == (("I love it", "good"), ("I hate it", "bad"))
    assert (settings["text_column"], settings["label_column"]) == ("text", "label")
    steps = ExamplesView(source=HUB, data_set="no/such").on_fetch(subject, None)
    assert next(steps) == {"about": "Asking the hub for no/such."}
    assert next(steps) == {"about": "Name a data set and fetch it."}
    with pytest.raises(InputError, match="no/such cannot be fetched"):
        next(steps)


def test_what_is_no_table_is_not_read(hub, folder, refusal):
    put(hub, **{"evil.h5": b"\x89HDF\r\n", "evil.md": b"# hello"})
    refusal(InputError, lambda: finished(fetch_data_set(NAME)))
