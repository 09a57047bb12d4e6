"""Scripts of the Experiments tab: a question asked of every item with transformers alone."""

from typing import Any

from explorer.experiments.compute.attention import link
from explorer.experiments.compute.heads_off import ZERO
from explorer.experiments.compute.patching import RESIDUAL
from explorer.experiments.compute.reading import read_items_as
from explorer.experiments.compute.targets import WORD
from explorer.experiments.source import FILE
from explorer.techniques.targets import piece_of
from explorer.techniques.tuned_lens import RAW
from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.writing import Script


def heads(view: Any, subject: Subject) -> Script | None:
    """The mean effect of every head; '' for other ways than zeros, and as `_rows` says."""
    return _of("heads.py", _rows(view, subject) if view.how == ZERO else [], patch_layer=None, keeps_attention=False)


def patching(view: Any, subject: Subject) -> Script | None:
    """The shares that hidden states recover; '' for heads and feed-forward blocks, and as `_rows` says."""
    if view.patched != RESIDUAL or not (rows := _rows(view, subject)):
        return None
    names, (used, _) = Names(subject.model), read_items_as(view.asked(subject), view.items_of(subject.model))
    changed = {asked.number - 1: names.texts(*asked.item.changed) for asked in used if asked.item.changed}
    rows = [(*changed[number], *row) for number, row in enumerate(rows) if number in changed]
    return _of("patching.py", rows)


def lens(view: Any, subject: Subject) -> Script | None:
    """The mean lead of the word at every hidden state; '' for the tuned lens, and as `_rows` says."""
    return _of("lens.py", _rows(view, subject) if view.reading == RAW else [])


def attention(view: Any, subject: Subject) -> Script | None:
    """The mean weight in every head; '' as `_can_be_written` says."""
    if not _can_be_written(view, subject):
        return None
    names, (used, _) = Names(subject.model), read_items_as(view.asked(subject), view.items_of(subject.model))
    rows = [(*names.texts(asked.item.text_a, asked.item.text_b), *map(list, link(asked, view.looks))) for asked in used]
    return _of("attention.py", rows)


def likelihood(view: Any, subject: Subject) -> Script | None:
    """How much likelier the texts with the word are, in three ways of counting; '' as `_rows` says."""
    return _of("likelihood.py", _rows(view, subject))


def _of(name: str, rows: list[tuple[Any, ...]], **values: Any) -> Script | None:
    return Script(name, items=rows, **values) if rows else None


def _can_be_written(view: Any, subject: Subject) -> bool:
    """Not for a file, which stays on the page, nor where there is no answer, nor for another target than words."""
    return view.source != FILE and view.chosen_target == WORD and not view.refusal(subject)


def _rows(view: Any, subject: Subject) -> list[tuple[Any, ...]]:
    """Items with the pieces that transformers has; none unless `_can_be_written`, nor for words of the model's choice."""
    if not _can_be_written(view, subject) or not all(item.word and item.foil for item in view.items_of(subject.model)):
        return []
    names, model, items = Names(subject.model), subject.model, view.items_of(subject.model)
    named = {
        word: model.tokenizer.convert_ids_to_tokens(piece_of(model, word)[0]) for item in items for word in (item.word, item.foil)
    }
    return [(*names.texts(item.text_a, item.text_b), named[item.word], named[item.foil]) for item in items]


CODE = {
    "experiments/heads": heads,
    "experiments/patching": patching,
    "experiments/lens": lens,
    "experiments/attention": attention,
    "experiments/likelihood": likelihood,
}
_CALL = "In Python it is model.experiment(items, question, how); the technique has a script of its own in one sentence."
WITHOUT = {
    **dict.fromkeys(("experiments/cut", "experiments/routes", "experiments/attribution"), _CALL),
    "experiments/saved": "In Python it is explorer.compare_experiments(*map(explorer.open_experiment, paths)).",
    "experiments/suites": "It reads pairs that come with the app; the Python of Guesses does it with one of them.",
}
