"""The answers of a model as rows of bars: guesses for a place, or both outputs of the head for pairs."""

from typing import Any

from explorer.bert.explorer import Explorer
from explorer.techniques.targets import Target, shares_at
from explorer.ui.pictures.bars import Row, percent

GUESSES = 5


def answer_rows(model: Explorer, target: Target, vector: Any, also: tuple[Target, ...] = (), before: Any = None) -> list[Row]:
    """A row for each of the best answers from the last hidden state [hidden] of the target's token, and one for each of `also`.

    With `before`, that vector in another run, each row notes its share there.
    """
    shares = shares_at(model, target, vector[None])[0]  # [classes]
    if target.head == "next_sentence":
        asked = [Target(target.head, target.position, id, name) for id, name in enumerate(model.pair_names)]
    else:
        best = shares.topk(GUESSES).indices.tolist()
        asked = [Target(target.head, target.position, id, name) for id, name in zip(best, model.pieces(best), strict=True)]
        asked += [extra for extra in also if extra not in asked]
    was = None if before is None else shares_at(model, target, before[None])[0]
    return [
        (answer.token, float(shares[answer.id]), "" if was is None else f"was {percent(float(was[answer.id]))}")
        for answer in asked
    ]
