"""The tab Hidden states: the tokens in each layer, one word in many contexts, and sentences."""

from typing import Any

from explorer.hidden_states.layers import EveryLayer, FirstNumbers, OneLayer, PooledOutput
from explorer.hidden_states.sentences import Sentences
from explorer.hidden_states.word import OneWord
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab


def word(view: Any, subject: Subject) -> Values:
    texts, labels = view._texts(subject)
    found, _ = view._word_and_contexts(subject, texts, labels)
    return {"word": found, "texts": as_typed(subject, *texts), "labels": list(labels)}


def sentences(view: Any, subject: Subject) -> Values:
    texts, state, _ = view._read(subject)
    return {"texts": as_typed(subject, *texts), "state": state}


TAB = Tab(
    "hidden",
    "Hidden states",
    "How do the tokens change, layer by layer?",
    {
        "Layer by layer": [[OneLayer, EveryLayer], [FirstNumbers], [PooledOutput]],
        "One word, many contexts": [[OneWord]],
        "Sentences": [[Sentences]],
    },
    steppers=("hidden_state",),
    programs={
        "hidden/one-layer": program("states", "look", values=lambda view, subject: {"state": subject.selection.layer}),
        "hidden/every-layer": program("states", "measure", values=lambda view, subject: {"state": subject.selection.layer}),
        "hidden/word": program("word", "source", "word", "contexts", values=word),
        "hidden/sentences": program("sentences", "sentences", values=sentences),
    },
)
