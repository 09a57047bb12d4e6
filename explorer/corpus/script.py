"""Scripts of the Corpus tab: nearest tokens, what a head and a neuron do in many sentences, and surprisal.

A file that was uploaded stays on the page: there is no script for it.
"""

from collections.abc import Callable
from typing import Any

from explorer.corpus.neurons import LINES
from explorer.corpus.search import STATE
from explorer.corpus.sentences import SHOWN
from explorer.corpus.source import BUILT_IN
from explorer.ui.subject import Subject
from explorer.ui.writing import Script


def search(view: Any, subject: Subject) -> Script | None:
    """The cosines of a token to all tokens of the corpus; all of these count if it is one that the tokenizer added."""
    query, with_added = view.query(subject), subject.trace.encoding.sequences[subject.token] < 0
    values = {"by_state": view.compare == STATE, "state": query.layer, "head": query.head, "token": query.token}
    return Script("search.py", with_added=with_added, **values)


def neurons(view: Any, subject: Subject) -> Script | None:
    """The tokens on which a neuron is most active; a layer that several places share runs once for each."""
    shown = view.result(subject)
    time = shown.layer if subject.model.family.shared_layers else 0
    return Script("neurons.py", place=shown.layer, neuron=shown.neuron, lines=LINES, time=time)


def sentences(view: Any, subject: Subject) -> Script | None:
    """The surprisal of every sentence, whichever are listed."""
    return Script("sentences.py", shown=SHOWN) if subject.model.capabilities.fill_mask else None


def heads(view: Any, subject: Subject) -> Script | None:
    """The mean weight of the chosen head by relative position, and on [CLS]."""
    return Script("heads.py")


def _built_in(make: Callable[[Any, Subject], Script | None]) -> Callable[[Any, Subject], Script | None]:
    return lambda view, subject: make(view, subject) if view.source == BUILT_IN else None


CODE = {
    "corpus/search": _built_in(search),
    "corpus/heads": _built_in(heads),
    "corpus/neurons": _built_in(neurons),
    "corpus/sentences": _built_in(sentences),
}
WITHOUT = {
    "corpus/trees": "The tree is a line of the corpus; the links of the head are those that the script of the atlas computes.",
    "corpus/words": "To find a word in every sentence takes more lines than to compare its vectors; search by meaning has them.",
    "corpus/layers": "Its probes train for longer than a script should; what it reads is what search by meaning reads.",
}
