"""Scripts of the Hidden states tab: similarity, norms and movement, one word in many contexts, whole sentences."""

from typing import Any

from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def one_layer(view: View, subject: Subject) -> Script | None:
    """The vectors of one hidden state, and how alike they are."""
    return Script("one_layer.py", state=subject.selection.layer)


def pooled(view: View, subject: Subject) -> Script | None:
    """The last hidden state of the first token, and the pooler's output."""
    return None if subject.model.why_not("pooler") else Script("pooled.py")


def one_word(view: Any, subject: Subject) -> Script | None:
    """The cosines between one word's vectors in its contexts, at every hidden state."""
    texts, labels = view._texts(subject)
    word, contexts = view._word_and_contexts(subject, texts, labels)
    values: dict[str, Any] = {
        "texts": Names(subject.model).texts(*texts),
        "labels": list(labels),
        "told_apart": len(set(contexts.senses)) > 1,
    }
    return Script("word.py", word=word, **values)


def sentences(view: Any, subject: Subject) -> Script | None:
    """The cosines between sentences."""
    texts, state, _ = view._read(subject)
    return Script("sentences.py", texts=Names(subject.model).texts(*texts), state=state)


CODE = {
    "hidden/one-layer": one_layer,
    "hidden/every-layer": Script("every_layer.py"),
    "hidden/pooled": pooled,
    "hidden/word": one_word,
    "hidden/sentences": sentences,
}
