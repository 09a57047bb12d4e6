"""The tab Inside a head: from two vectors to one weight, on to the layer's output, masks, and position vectors."""

from typing import Any

from explorer.inside_head.batch import InABatch
from explorer.inside_head.decoder import Decoder
from explorer.inside_head.positions import Positions
from explorer.inside_head.steps import DotProducts, WholeLayer
from explorer.ui.attention_data import find_telling
from explorer.ui.programs import Values, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Moved, Tab


def query(view: Any, subject: Subject) -> Values:
    found = find_telling(subject).query
    return {"token": subject.token if subject.selection.token is not None or found is None else found}


TAB = Tab(
    "inside-head",
    "Inside a head",
    "How does one word come to attend to another?",
    {
        "One head": [[DotProducts]],
        "The whole layer": [[WholeLayer]],
        "If it were a decoder": [[Decoder]],
        "A batch": [[InABatch]],
        "Positions": [[Positions]],
    },
    steppers=("layer", "head"),
    without_steppers=("Positions",),  # position vectors belong to no layer
    moved={"step-by-step": Moved("One head shows all steps of a query in one table.", "inside-head", "one-head")},
    programs={"inside-head/layer": program("layer"), "inside-head/dots": program("layer", values=query)},
)
