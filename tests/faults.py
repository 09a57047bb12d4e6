"""Kill a training process that saves runs, again and again: every run reported as kept must be there, and none half-written."""

import argparse
import contextlib
import itertools
import multiprocessing
import os
import random
import tempfile
import time
import zipfile
from multiprocessing.connection import Connection
from pathlib import Path

import explorer
from explorer.core.disk import ABANDONED, UNFINISHED, tidy
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import quota, store
from explorer.finetune.compute.export import pack, tuned_model
from explorer.finetune.compute.store import read_run
from explorer.finetune.compute.task import make_plan
from explorer.finetune.compute.text_tasks import text_task
from explorer.finetune.compute.training import new_run, run_training
from explorer.training.examples import Examples
from tests.conftest import write_tiny

EXAMPLES = Examples(*zip(*[(f"{w * (1 + i % 3)}{i}", w) for i in range(9) for w in ("happy", "sad")], strict=True))
LONGEST = 1.0  # seconds from the first run to the kill: about ten more runs on an idle machine
HEAVY = [
    "explorer.finetune.compute.export",
    "explorer.finetune.compute.training",
    "sklearn.linear_model",
]  # imported once, not for every kill
ROUND = 10  # kills in one folder; then a new one


def work(model_folder: str, runs: str, say: Connection) -> None:
    """Train and save for ever, and print each run's id as soon as it is kept."""
    os.environ |= {"BERT_EXPLORER_RUNS": runs}
    quota.VISITOR_RUNS = 1_000  # no run is removed to make room
    model = explorer.load(model_folder)
    for number in itertools.count():
        plan = make_plan(model, -1, "mean", layers_trained=number % 2, epochs=1, seed=number)
        run = new_run(finished(run_training(text_task(model, EXAMPLES, plan))), "Test")
        say.send_bytes(run.id.encode())
        if run.predictor.layers_trained:
            tuned_model(run)
        pack(run)


def kill_once(model_folder: Path, runs: Path, after: float) -> list[str]:
    """Let a process train and save, kill it `after` seconds from its first run, and return the ids it reported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(HEAVY)
    hear, say = context.Pipe(duplex=False)
    child = context.Process(target=work, args=(str(model_folder), str(runs), say), daemon=True)
    child.start()
    say.close()
    kept = [hear.recv_bytes().decode()]
    time.sleep(after)
    child.kill()
    child.join()
    with contextlib.suppress(EOFError, OSError):  # the last message may be cut off, so it was not reported
        while True:
            kept.append(hear.recv_bytes().decode())
    return kept


def check(runs: Path, promised: list[str]) -> int:
    """Count the runs. Raises AssertionError unless all reported ones are there and all found ones are complete."""
    os.environ["BERT_EXPLORER_RUNS"] = str(runs)
    names = [path.name for path in runs.iterdir()]
    listed = [about["id"] for about in store.peek(names)]
    assert set(promised) <= set(listed), "a run is lost"
    assert {name for name in names if not name.startswith(UNFINISHED)} == set(listed), "what has a name is not whole"
    for identifier in listed:
        run = read_run(runs / identifier, identifier)
        assert run.predictor.classify(explorer.load(run.predictor.model), [("happy", "")]).shape == (1, 2)
        if (runs / identifier / "model").exists():
            assert explorer.load(store.tuned_name(identifier)).trace("happy").kept == 3
        if (runs / identifier / "run.zip").exists():
            with zipfile.ZipFile(runs / identifier / "run.zip") as archive:
                assert archive.testzip() is None
    for name in set(names) - set(listed):
        try:
            store.fetch(name)
        except InputError:
            continue
        raise AssertionError("what was not finished is found")
    return len(listed)


def sweep(runs: Path) -> int:
    """Let unfinished files expire and be removed, and count them. Raises AssertionError if any is left."""
    left = [path for path in runs.iterdir() if path.name.startswith(UNFINISHED)]
    for path in left:
        os.utime(path, (time.time() - 2 * ABANDONED,) * 2)
    tidy(runs)
    assert not any(path.exists() for path in left), "what nobody writes any more is still there"
    return len(left)


def main() -> None:
    """Kill as often as the command line says, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    runs_kept = promises = unfinished = 0
    with tempfile.TemporaryDirectory() as folder:
        model = write_tiny(Path(folder) / "bert")
        for start in range(0, options.kills, ROUND):
            runs, promised, listed = Path(folder) / f"runs-{start}", [], 0
            runs.mkdir(mode=0o700)
            for _ in range(min(ROUND, options.kills - start)):
                promised += kill_once(model, runs, chance.uniform(0, LONGEST))
                listed = check(runs, promised)
            runs_kept, promises, unfinished = runs_kept + listed, promises + len(promised), unfinished + sweep(runs)
            print(f"{start + ROUND} kills: {promises} runs said to be kept, {runs_kept} there, {unfinished} swept", flush=True)


if __name__ == "__main__":
    main()
