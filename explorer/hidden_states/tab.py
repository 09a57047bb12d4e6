"""The tab Hidden states: the tokens in each layer, and one word in many contexts."""

from typing import Any

from explorer.hidden_states.layers import EveryLayer, FirstNumbers, OneLayer, PooledOutput
from explorer.hidden_states.word import OneWord
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Moved, Tab


def word(view: Any, subject: Subject) -> Values:
    texts, labels = view.read_texts(subject)
    return {"word": view.find(subject).word, "texts": as_typed(subject, *texts), "labels": list(labels)}


TAB = Tab(
    "hidden",
    "Hidden states",
    "How do the tokens change, layer by layer?",
    {"Layer by layer": [[OneLayer, EveryLayer], [FirstNumbers], [PooledOutput]], "One word, many contexts": [[OneWord]]},
    steppers=("hidden_state",),
    moved={"sentences": Moved("The map compares sentences now: click one for its cosines.", "projection", "map")},
    programs={
        "hidden/one-layer": program("states", values=lambda view, subject: {"state": subject.selection.layer}),
        "hidden/every-layer": program("states", "measure", values=lambda view, subject: {"state": subject.selection.layer}),
        "hidden/word": program("word", "source", "word", "contexts", values=word),
    },
)
