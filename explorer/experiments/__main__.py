"""Write the experiments that come with the app: `python -m explorer.experiments`."""

from explorer.bert.checkpoints import BUNDLED
from explorer.bert.explorer import load
from explorer.core.paths import EXPERIMENTS
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.compute.items import suite_items
from explorer.experiments.compute.minimal_pairs import TITLES
from explorer.experiments.compute.runs import save_experiment


def main() -> None:
    """Switch every head of the bundled model off in the items of every suite."""
    EXPERIMENTS.mkdir(exist_ok=True)
    model = load(BUNDLED)
    for suite in TITLES:
        save_experiment(experiment(model, suite_items(suite)), EXPERIMENTS / f"{suite}.json")


if __name__ == "__main__":
    main()
