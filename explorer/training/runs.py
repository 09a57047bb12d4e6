"""From the end of a training to a run that is kept."""

from explorer.analysis.projection import principal_components
from explorer.training.baselines import baselines
from explorer.training.examples import Examples
from explorer.training.store import HeldOut, Run, keep
from explorer.training.teach import Taught


def new_run(taught: Taught, examples: Examples, title: str, identifier: str = "") -> Run:
    """Keep what was taught, with the held-out examples, their map and the baselines, under an id."""
    held = taught.held_rows
    held_out = HeldOut(
        tuple(examples.texts[row] for row in held),
        tuple(examples.pairs[row][1] for row in held),
        examples.targets[held],
        taught.probabilities,
        principal_components(taught.vectors, 2)[0],
    )
    return keep(
        Run(
            classifier=taught.classifier,
            title=title,
            settings=taught.plan.as_row(),
            history=[epoch.as_row() for epoch in taught.history],
            best=taught.best,
            held_out=held_out,
            baselines={base.name: base.accuracy for base in baselines(examples, taught.train_rows, held)},
            id=identifier,
        )
    )
