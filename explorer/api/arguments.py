"""Shared by endpoints: the model they use, and the form of guesses in an answer."""

from collections.abc import Sequence
from typing import Any

from explorer.bert.explorer import Explorer, load
from explorer.bert.network import MaskGuesses


def explorer_for(model: str | None) -> Explorer:
    """The model by its name; "" is the default one. Raises ModelError."""
    return load(model)


def masks_of(guesses: Sequence[MaskGuesses]) -> list[dict[str, Any]]:
    """The guesses for every [MASK] as JSON."""
    return [
        {
            "position": guess.position,
            "candidates": [
                {"token": candidate.token, "id": candidate.id, "probability": candidate.probability}
                for candidate in guess.candidates
            ],
        }
        for guess in guesses
    ]
