"""Write the experiments that come with the app: `python -m explorer.experiments`."""

from explorer.base.paths import EXPERIMENTS
from explorer.experiments.file import written
from explorer.experiments.heads import experiment
from explorer.model.checkpoints import BUNDLED
from explorer.model.explorer import load
from explorer.text.items import agreement


def main() -> None:
    """Switch every head of the bundled model off in the items that come with the app."""
    EXPERIMENTS.mkdir(exist_ok=True)
    (EXPERIMENTS / "agreement.json").write_text(written(experiment(load(BUNDLED), agreement())) + "\n", "utf-8")


if __name__ == "__main__":
    main()
