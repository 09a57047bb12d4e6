"""How well a model does on our own blanks and pairs, which resemble what a class would type."""

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.bert.explorer import Explorer
from explorer.bert.network import Candidate
from explorer.pretraining.own_tests import Blank, Pair, blanks, pairs


@dataclass(frozen=True)
class Filled:
    """One of our blanks, and the first five guesses of a model, best first."""

    blank: Blank
    guesses: tuple[Candidate, ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """For each guess, whether it is one of the sensible words."""
        return tuple(guess.token in self.blank.sensible for guess in self.guesses)

    def row(self) -> str:
        """A line of a Markdown table: each guess with its probability in per cent, sensible ones in bold."""
        shown = (
            f"{f'**{guess.token}**' if right else guess.token} {100 * guess.probability:.0f}"
            for guess, right in zip(self.guesses, self.right, strict=True)
        )
        return f"| {self.blank.kind} | {self.blank.sentence} | {', '.join(shown)} |"


@dataclass(frozen=True)
class Judged:
    """One of our pairs, and the probability, 0..1, with which a model says that the second sentence follows the first."""

    pair: Pair
    follows: float

    @property
    def right(self) -> bool:
        """Whether the more probable answer is correct."""
        return (self.follows > 0.5) == self.pair.follows

    def row(self) -> str:
        """A line of a Markdown table."""
        return f"| {self.pair.first} / {self.pair.second} | {'yes' if self.pair.follows else 'no'} | {self.follows:.2f} |"


def fill(model: Explorer) -> Iterator[Filled]:
    """The model's guesses for every blank. Raises CapabilityError without a masked-LM head."""
    for blank in blanks():
        yield Filled(blank, tuple(model.fill_mask(blank.sentence, top_k=5)[0].candidates))


def judge(model: Explorer) -> Iterator[Judged]:
    """The model's judgement of every pair. Raises CapabilityError without a next-sentence head."""
    for pair in pairs():
        yield Judged(pair, model.next_sentence(pair.first, pair.second).is_next)


def by_kind(filled: list[Filled]) -> dict[str, tuple[int, int, int]]:
    """For each kind, and for all: the number of blanks, and how many have a sensible first guess, and one in five."""
    kinds = {kind: [line for line in filled if line.blank.kind == kind] for kind in {line.blank.kind: 0 for line in filled}}
    counts = {kind: [(line.right[0], any(line.right)) for line in of] for kind, of in (kinds | {"all": filled}).items()}
    return {kind: (len(of), sum(first for first, _ in of), sum(five for _, five in of)) for kind, of in counts.items()}


def markdown(filled: list[Filled], judged: list[Judged]) -> str:
    """Three tables for a model card: the scores by kind, the blanks without a sensible word among five, the pairs missed."""
    counts = by_kind(filled).items()
    scores = [f"| {kind} | {n} | {100 * first / n:.0f} % | {100 * five / n:.0f} % |" for kind, (n, first, five) in counts]
    right = sum(line.right for line in judged)
    return "\n".join(
        [
            "| kind | blanks | top-1 | top-5 |\n|---|---:|---:|---:|",
            *scores,
            "\nBlanks without a sensible word among the first five:\n",
            "| | sentence | first five guesses |\n|---|---|---|",
            *(line.row() for line in filled if not any(line.right)),
            f"\nPairs: {right} of {len(judged)} are judged right. Those that are not, and how likely B seems:\n",
            "| pair | follows | said |\n|---|---|---:|",
            *(line.row() for line in judged if not line.right),
        ]
    )
