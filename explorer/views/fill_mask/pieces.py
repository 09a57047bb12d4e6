"""Pieces of the vocabulary that a person named."""

from explorer.views.subject import Subject


def pieces_named(subject: Subject, typed: str, position: int, most: int) -> list[tuple[int, str]]:
    """The id and name of each piece in 'is, are' or 'is / are', `most` of them; of none, the two best guesses there.

    Raises InputError for a word that is not one piece of the vocabulary.
    """
    from explorer.techniques.targets import piece_of  # loads torch

    words = [word for part in typed.replace("/", ",").split(",") if (word := part.strip())]
    if words:
        return [piece_of(subject.model, word) for word in words[:most]]
    (guess,) = subject.model.guesses(subject.trace.states[-1][[position]], [position], 2)
    return [(candidate.id, candidate.token) for candidate in guess.candidates]
