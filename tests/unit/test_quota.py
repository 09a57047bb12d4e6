"""Nobody's run leaves for the sake of somebody else's; each visitor has a share, and all together a bound."""

import os
import random
import time
from types import SimpleNamespace

import pytest

import explorer
from explorer.core import disk
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import DAY, RUN_DAYS, RUNS_MEGABYTES, VISITOR_MEGABYTES, Limit
from explorer.finetune.compute import export, store
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.unpack import unpack
from explorer.training.examples import Examples
from tests.learning import learn

TEXTS = [(f"{word} {i}", label) for i in range(6) for word, label in [("happy", "yes"), ("sad", "no")]]
EXAMPLES = Examples(*zip(*TEXTS, strict=True))


@pytest.fixture
def train(tiny_folder, tmp_path, monkeypatch):
    """Keeps a run of a visitor, in a store of the test's own; it was used `age` days ago."""
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path / "runs"))
    model = explorer.load(tiny_folder)
    made = {trained: learn(model, EXAMPLES, layers_trained=trained, epochs=1) for trained in (0, 1)}

    def train(visitor, age=0.0, layers=0):
        run = new_run(made[layers], "mine", visitor=visitor)
        then = time.time() - age * DAY
        os.utime(store.folder() / run.id, (then, then))
        return run

    return train


def ids():
    return {path.name for path in store.folder().iterdir()}


def test_a_visitors_run_survives_whatever_another_trains_and_uploads(train, monkeypatch, tmp_path, refusal):
    monkeypatch.setattr(store, "VISITOR_RUNS", 3)
    monkeypatch.setattr(store, "RUNS", 6)
    hers = [train("hers", age=1), train("hers", age=2)]
    zipped = tmp_path / "mine.zip"
    zipped.write_bytes(export.pack(hers[0]).read_bytes())
    for _ in range(5):
        train("his")
    for _ in range(5):
        unpack(zipped, "his")
    train("third")
    refusal(ExplorerError, lambda: train("fourth"))
    refusal(ExplorerError, lambda: unpack(zipped, "fifth"))
    assert {run.id for run in hers} <= ids()
    assert len(ids()) == 6
    train("his")  # who has runs of his own gives one up


def test_the_oldest_of_ones_own_leaves(train, monkeypatch, refusal):
    monkeypatch.setattr(store, "VISITOR_RUNS", 3)
    first, *rest = [train("hers", age=4 - number).id for number in range(4)]
    refusal(InputError, lambda: store.fetch(first))
    assert [row["id"] for row in store.peek([first, *rest])] == rest
    store.fetch(rest[0])  # used: it is the newest now
    last = train("hers").id
    assert ids() == {rest[0], rest[2], last}


def test_a_visitor_stays_within_a_size(train, monkeypatch):
    old, new = train("hers", age=2), train("hers", age=1)
    size = disk.size_of(store.folder() / old.id) + disk.size_of(store.folder() / new.id)
    monkeypatch.setattr(store, "VISITOR_MEGABYTES", SimpleNamespace(bytes=size + 1))
    hers = train("others", age=3)
    last = train("hers")
    assert ids() == {new.id, last.id, hers.id}
    assert old.id not in ids()


def test_what_alone_is_too_much_is_refused_and_takes_nothing(train, monkeypatch, refusal):
    kept = train("hers", layers=1)
    monkeypatch.setattr(store, "VISITOR_MEGABYTES", Limit(0, VISITOR_MEGABYTES.sentence))
    before = {path: path.stat().st_size for path in store.folder().rglob("*")}
    for attempt in (lambda: train("hers"), lambda: export.pack(kept), lambda: export.tuned_model(kept)):
        assert "Train fewer layers" in refusal(ExplorerError, attempt)
    assert {path: path.stat().st_size for path in store.folder().rglob("*")} == before


def test_a_full_store_refuses_and_keeps_everything(train, monkeypatch, refusal):
    kept = {train("hers").id, train("his").id}
    monkeypatch.setattr(store, "RUNS_MEGABYTES", Limit(0, RUNS_MEGABYTES.sentence))
    assert "no room" in refusal(ExplorerError, lambda: train("third"))
    assert ids() == kept
    assert train(store.HOUSE).id in ids(), "the page must open"


def test_only_what_expired_leaves_by_itself(train):
    old, fresh = train("hers", age=RUN_DAYS.most + 1), train("hers", age=RUN_DAYS.most - 1)
    new = train("his")
    assert ids() == {fresh.id, new.id}
    assert old.id not in ids()


def test_making_room_for_a_model_spares_the_run_it_belongs_to(train, monkeypatch):
    monkeypatch.setattr(store, "VISITOR_RUNS", 1)
    run = train("hers", age=3, layers=1)
    export.tuned_model(run)
    assert (store.folder() / run.id / "model").is_dir()
    assert ids() == {run.id}


@pytest.mark.parametrize("seed", range(5))
def test_whatever_comes_in_whatever_order_nobody_takes_from_another(train, monkeypatch, seed):
    monkeypatch.setattr(store, "VISITOR_RUNS", 2)
    monkeypatch.setattr(store, "RUNS", 5)
    chance, kept = random.Random(seed), {visitor: [] for visitor in "abcd"}
    for _ in range(15):
        visitor = chance.choice("abcd")
        try:
            kept[visitor] = [*kept[visitor], train(visitor).id][-2:]
        except ExplorerError:
            assert sum(map(len, kept.values())) == 5
            assert len(kept[visitor]) < 2
        assert ids() == {one for runs in kept.values() for one in runs}
