"""The methods section of a paper for a run: what was done, to what, with which versions, and the references."""

import functools
import re

from explorer.core.paths import ASSETS
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.naming import in_groups
from explorer.experiments.questions import TELLINGS, TESTS, tell

REFERENCES = ASSETS / "references.tsv"
CITED = re.compile(r"\b[A-Z][a-z]+(?: et al\.| & [A-Z][a-z]+)? (?:19|20)\d\d\b")
PROGRAM = '''"""Compute a saved run again, and compare its numbers."""

import numpy as np

import explorer

run = explorer.open_experiment({name!r})
again = explorer.repeat(run)  # the same items, question, seed and model: {model}
print(explorer.compare_experiments(run, again).changed)  # versions or weights that are not those of the file
np.testing.assert_allclose(again.values, run.values, atol=1e-3)
np.testing.assert_allclose(again.summary.q, run.summary.q, atol=1e-3)
print(again.table)  # a row for each place
print(again.summary.held_out)
'''


def methods(found: Experiment, name: str = "run.json") -> str:
    """The section as plain text, with the Python that makes the run in this file again."""
    made, telling, summary = found.provenance, TELLINGS[found.question.name], found.summary
    weights = f" (SHA-256 of its weights {made['weights'][:16]}…)" if made["weights"] else ""
    left_out = f" {len(found.left_out):,} more items could not be asked and were left out." if found.left_out else ""
    described = re.sub(r"\\?\*", "", telling.help + TESTS)
    texts = {
        "Materials": f"We asked the model {made['model']}{weights}, in {made['dtype']}, about "
        f"{in_groups(len(found.items), summary.groups)}; {summary.held_out.groups} of the groups tested the place that the "
        f"others selected (seed {made['seed']}).{left_out}",
        "Method": f"{telling.menu} (`{made['question']}`, `{made['how']}`) {described}",
        "Result": tell(found),
        "Software": f"BERT Explorer {made['explorer']}, transformers {made['transformers']}, PyTorch {made['torch']}.",
        "References": "\n".join(references()[cited] for cited in sorted(set(CITED.findall(described)))),
        "To compute it again": program(found, name),
    }
    return "\n\n".join(f"{title}\n{text}" for title, text in texts.items())


@functools.cache
def references() -> dict[str, str]:
    """Papers by how our texts cite them."""
    lines = REFERENCES.read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def program(found: Experiment, name: str = "run.json") -> str:
    """The Python that computes the run in a file again, and compares every number."""
    return PROGRAM.format(name=name, model=found.provenance["model"])
