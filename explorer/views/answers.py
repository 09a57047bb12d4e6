"""What a model says of an input, as rows of bars: the guesses for a place, or both outputs of the head for pairs."""

from typing import TYPE_CHECKING, Any

from explorer.figures.bars import Row, percent

if TYPE_CHECKING:
    from explorer.model.explorer import Explorer
    from explorer.techniques.targets import Target

GUESSES = 5


def answer_rows(
    model: "Explorer", target: "Target", states: Any, also: tuple["Target", ...] = (), before: Any = None
) -> list[Row]:
    """A row for each of the best answers from last hidden states [tokens, hidden], and one for each of `also`.

    With `before`, the last hidden states of another run, each row notes what its share was there.
    """
    from explorer.techniques.targets import Target, read

    if target.head == "next_sentence":
        share = float(read(model, target, states[None]).probability)
        asked = [Target(target.head, target.position, id, name) for id, name in enumerate(model.pair_names)]
        shares = [share, 1 - share]
    else:
        (guess,) = model.guesses(states[[target.position]], [target.position], GUESSES)
        asked = [Target(target.head, target.position, one.id, one.token) for one in guess.candidates]
        asked += [one for one in also if one not in asked]
        shares = [float(read(model, one, states[None]).probability) for one in asked]
    was = [""] * len(asked) if before is None else [f"was {percent(_share(model, one, before))}" for one in asked]
    return [(one.token, share, note) for one, share, note in zip(asked, shares, was, strict=True)]


def _share(model: "Explorer", target: "Target", states: Any) -> float:
    from explorer.techniques.targets import read

    return float(read(model, target, states[None]).probability)
