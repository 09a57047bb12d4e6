"""One head that a whole room teaches: everybody adds examples, it is trained on them all, and everybody tries to fool it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from explorer.base.errors import InputError
from explorer.classroom import names
from explorer.model.explorer import load
from explorer.training.examples import Examples
from explorer.training.predictor import Classifier, of_kind
from explorer.training.text_tasks import Classification
from explorer.training.training import make_plan, train_whole

LABELS = (2, 4)  # fewest and most
EACH = 2  # examples of a label that one person adds
FEWEST = 2  # examples of each label to train on
TRIES = 5  # sentences with which one person tries to fool it
FOOLED = 5  # points


@dataclass(frozen=True)
class Example:
    """A sentence that somebody, by the id, gave a label."""

    number: int
    person: str
    label: str
    text: str


@dataclass(frozen=True)
class Try:
    """A sentence with the label that who typed it means, and what the head says of it, with its probability."""

    number: int
    person: str
    text: str
    meant: str
    answer: str
    share: float

    @property
    def fooled(self) -> bool:
        """Whether the head says something else."""
        return self.answer != self.meant


@dataclass(eq=False)
class Teaching:
    """The examples of a room, and the head that learnt from them. `model` is the model's name."""

    labels: tuple[str, ...]
    model: str
    examples: list[Example] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    head: Classifier | None = None
    trained_on: int = 0  # examples
    accuracy: float = 0.0  # on what was held out, 0..1
    busy: bool = False  # while it is trained
    _numbers: int = 0

    @classmethod
    def of(cls, labels: object, model: str) -> "Teaching":
        """With labels as they were typed. Raises InputError."""
        given = [names.word(label) for label in labels if label] if isinstance(labels, list) else []
        if not LABELS[0] <= len(given) <= LABELS[1]:
            raise InputError(f"Name {LABELS[0]} to {LABELS[1]} labels, such as happy and sad.")
        if len({label.casefold() for label in given}) < len(given):
            raise InputError("Two labels are the same; name different ones.")
        return cls(tuple(given), model)

    def add(self, person: str, label: object, text: object) -> None:
        """One more example. Raises InputError for an unknown label, a sentence that is there, or one too many of somebody."""
        label, text = self._label(label), names.sentence(text)
        if sum(one.person == person and one.label == label for one in self.examples) >= EACH:
            raise InputError(f"You have added {EACH} examples of {label}; take one back to add another.")
        if text.casefold() in (one.text.casefold() for one in self.examples):
            raise InputError("This sentence is among the examples already; think of another.")
        self.examples.append(Example(self._next(), person, label, text))

    def take_back(self, number: object, person: str | None = None) -> None:
        """Leave an example or a try out; one of `person`'s own, or anybody's where that is None."""
        self.keep(lambda one: one.number != number or person not in (None, one.person))

    def keep(self, wanted: Callable[[Example | Try], bool]) -> None:
        """Leave out all examples and tries but those that are wanted."""
        self.examples[:] = filter(wanted, self.examples)
        self.tries[:] = filter(wanted, self.tries)

    def missing(self) -> str:
        """Why it cannot be trained yet, or ''."""
        counts = Counter(one.label for one in self.examples)
        few = [label for label in self.labels if counts[label] < FEWEST]
        return f"There must be {FEWEST} examples of {' and of '.join(few)} at least." if few else ""

    def begin(self) -> None:
        """It is about to be trained. Raises InputError when it is already, or cannot be."""
        if self.busy:
            raise InputError("It is being trained already.")
        if why := self.missing():
            raise InputError(why)
        self.busy = True

    def learnt(self, head: Classifier, accuracy: float, examples: int) -> None:
        """It was trained on so many examples; whoever fooled the one before tries anew."""
        self.head, self.accuracy, self.trained_on = head, accuracy, examples
        self.tries.clear()

    def learn(self, examples: list[Example]) -> tuple[Classifier, float]:
        """A head that learnt from some examples, and its accuracy on what was held out; this changes nothing. Takes a while."""
        given = Examples(tuple(one.text for one in examples), tuple(one.label for one in examples))
        model = load(self.model)
        result = train_whole(Classification(model, given, make_plan(model, -1, "mean", epochs=0)))
        return of_kind(result.predictor, Classifier), float(result.history[result.best].held_out["accuracy"])

    def answer(self, text: str) -> tuple[str, float]:
        """What the head says of a sentence, and how surely. Raises InputError before it was trained."""
        if self.head is None:
            raise InputError("The room has not trained its head yet.")
        shares = self.head.classify(load(self.model), [(text, "")])[0]
        return self.head.labels[int(shares.argmax())], float(shares.max())

    def check_try(self, person: str, text: object, meant: object) -> tuple[str, str]:
        """The sentence and the label of somebody's next try. Raises InputError."""
        label, sentence = self._label(meant), names.sentence(text)
        mine = [one for one in self.tries if one.person == person]
        if len(mine) >= TRIES:
            raise InputError(f"You have tried {TRIES} times; now it is the others' turn.")
        if sentence.casefold() in [one.text.casefold() for one in self.examples] + [one.text.casefold() for one in self.tries]:
            raise InputError("Somebody has used this sentence already; think of another.")
        return sentence, label

    def tried(self, person: str, text: str, meant: str, answer: tuple[str, float]) -> Try:
        """Keep what came of a try."""
        self.tries.append(Try(self._next(), person, text, meant, *answer))
        return self.tries[-1]

    def points(self, person: str) -> int:
        """What somebody's successful tries earn."""
        return FOOLED * sum(one.fooled for one in self.tries if one.person == person)

    def _label(self, label: object) -> str:
        if label not in self.labels:
            raise InputError("Choose one of the labels.")
        return str(label)

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers
