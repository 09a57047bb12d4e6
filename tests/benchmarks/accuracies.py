"""`python -m tests.benchmarks.accuracies [NAME ...] [--seeds N] [--model NAME]`: what the Fine-tune tab reaches.

Every recipe can be set in the page: examples read as an upload, a part held out, one epoch kept. The score is the share
that is right in a file of its own, on which no epoch is chosen. For a frozen encoder a tenth is held out and the epoch kept
that is best there; when layers are trained or the head is solved at once (L-BFGS), every example counts: a fiftieth is held out
and the last epoch kept. For the SMS it is the share of the held-out fifth, with L-BFGS, which has no epochs to choose from; for
the answers the exact match on the held-out texts of the built-in set after the last epoch. Printed are the mean over the seeds
and each score.
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BERT_EXPLORER_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Recipe:
    """Settings of the page's plan, and the least accuracy that is wanted of them."""

    wanted: float
    train: str = "tweets_train.csv"
    test: str | None = "tweets_dev.csv"  # None: the held-out fifth
    layer: int = -1  # the hidden state that the head reads
    layers: int | str = 0  # or "all"
    pooling: str = "mean"
    settings: tuple[tuple[str, Any], ...] = ()


RECIPES = {
    "frozen": Recipe(0.63),
    # Hidden state 4 is the one that the tab's probe finds best.
    "frozen-lbfgs": Recipe(0.63, layer=4, settings=(("optimizer", "lbfgs"),)),
    # Devlin et al. 2019, section 5.3: the last four hidden states side by side.
    "frozen-last4": Recipe(0.65, pooling="last4", settings=(("optimizer", "lbfgs"),)),
    "top-2": Recipe(0.70, layers=2, pooling="cls"),
    "all-layers": Recipe(0.72, layers="all", pooling="cls"),
    "answers": Recipe(0.5, "", None),
    "sms": Recipe(0.985, "sms_spam_train.csv", None, settings=(("optimizer", "lbfgs"), ("regularization", 0.1))),
}


def score(recipe: Recipe, seed: int, model_name: str | None) -> float:
    import explorer
    from explorer.finetune.compute.task import Task, make_plan, train_whole
    from explorer.finetune.recipe import PRESETS, preset_for

    model = explorer.load(model_name)
    if not recipe.train:
        return _answers(model, seed)
    examples = examples_of(recipe.train)
    layers = model.capabilities.layers if recipe.layers == "all" else recipe.layers
    epochs, rate, batch = PRESETS[preset_for(model.capabilities.hidden_size, layers)]
    settings = {"epochs": epochs, "learning_rate": rate, "batch_size": batch, **dict(recipe.settings)}
    settings["seed"] = seed
    if recipe.test:
        settings["held_out"] = 0.02 if layers or settings.get("optimizer") == "lbfgs" else 0.1
    plan = make_plan(model, recipe.layer, recipe.pooling, layers, keep_best=not layers, **settings)
    result = train_whole(Task(model, examples, plan))
    if recipe.test is None:
        return result.history[result.best].held_out["accuracy"]
    test = examples_of(recipe.test)
    said = result.predictor.classify(model, test.pairs).argmax(-1)
    right = [examples.classes[answer] == label for answer, label in zip(said, test.labels, strict=True)]
    return float(np.mean(right))


def _answers(model: Any, seed: int) -> float:
    """The exact match of what the page trains when nothing is changed but the seed."""
    from explorer.finetune.compute.task import Task, train_whole
    from explorer.finetune.recipe import ANSWERS, READY, defaults
    from explorer.finetune.recipe import Recipe as Settings
    from explorer.finetune.sources import ExampleSettings

    examples, _ = ExampleSettings(kind=ANSWERS, source=READY).examples()
    plan = Settings(kind=ANSWERS, **defaults(ANSWERS, model.capabilities), seed=seed).plan(model)
    return train_whole(Task(model, examples, plan)).history[-1].held_out["exact_match"]


def run(names: list[str], seeds: int, model_name: str | None) -> Iterator[str]:
    for name in names:
        recipe, start = RECIPES[name], time.perf_counter()
        scores = [score(recipe, seed, model_name) for seed in range(seeds)]
        taken = (time.perf_counter() - start) / seeds
        each = ", ".join(f"{value:.1%}" for value in scores)
        yield f"{name}: {np.mean(scores):.1%} ({each}); wanted {recipe.wanted:.0%}; {taken:.0f} s a training"


def examples_of(name: str) -> Any:
    from explorer.finetune.compute.from_table import examples_from_table
    from explorer.text.tables import read_table
    from explorer.training.columns import guess_columns

    return examples_from_table(table := read_table(DATA / name), guess_columns(table))[0]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.accuracies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECIPES)}; all when none is given")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--model", help="name, folder or hub id; the bundled one when none is given")
    options = parser.parse_args()
    if unknown := set(options.names) - set(RECIPES):
        parser.error(f"no recipe is called {', '.join(sorted(unknown))}; there are {', '.join(RECIPES)}")
    for line in run(options.names or list(RECIPES), options.seeds, options.model):
        print(line, flush=True)


if __name__ == "__main__":
    main()
