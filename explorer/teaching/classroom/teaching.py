"""One head that a whole room trains: everybody adds examples, the head learns from all, and everybody tries to fool it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from explorer.bert.explorer import load
from explorer.core.errors import InputError
from explorer.finetune.compute.predictor import as_kind
from explorer.finetune.compute.task import Task, make_plan, train_whole
from explorer.finetune.compute.texts import Classifier
from explorer.teaching.classroom import names
from explorer.teaching.classroom.rounds import Names
from explorer.training.examples import Examples

LABELS = (2, 4)  # fewest and most
EACH = 2  # examples of each label from one person
FEWEST = 2  # examples of each label to train on
TRIES = 5  # tries to fool the head, for each person
LATEST = 40  # examples and tries on the board
FOOLED = 5  # points for fooling the head


@dataclass(frozen=True)
class Example:
    """A labelled sentence, with the id of the person who gave it."""

    number: int
    person: str
    label: str
    text: str


@dataclass(frozen=True)
class Try:
    """A sentence to fool the head: the label that its author means, and the head's answer with its probability."""

    number: int
    person: str
    text: str
    meant: str
    answer: str
    share: float

    @property
    def fooled(self) -> bool:
        return self.answer != self.meant

    @property
    def points(self) -> int:
        return FOOLED if self.fooled else 0


@dataclass(eq=False)
class Teaching:
    """The examples of a room and the head trained on them. `model` is the name of the model."""

    labels: tuple[str, ...]
    model: str
    examples: list[Example] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    head: Classifier | None = None
    number: int = 0  # among the activities of the room
    trained_on: int = 0  # number of examples
    accuracy: float = 0.0  # on held-out examples, 0..1
    busy: bool = False  # while the head is trained
    _numbers: int = 0

    @classmethod
    def of(cls, labels: object, model: str) -> "Teaching":
        """Make one with typed labels. Raises InputError."""
        given = [names.word(label) for label in labels if label] if isinstance(labels, list) else []
        if not LABELS[0] <= len(given) <= LABELS[1]:
            raise InputError(f"Name {LABELS[0]} to {LABELS[1]} labels, such as happy and sad.")
        if len({label.casefold() for label in given}) < len(given):
            raise InputError("Two labels are the same. Give each its own name.")
        return cls(tuple(given), model)

    def add(self, person: str, label: object, text: object) -> None:
        """Add an example. Raises InputError for an unknown label, a repeated sentence, or more than EACH from one person."""
        label, text = self._label(label), names.sentence(text)
        if sum(example.person == person and example.label == label for example in self.examples) >= EACH:
            raise InputError(f"You have added {EACH} examples of {label}. Take one back to add another.")
        if text.casefold() in (example.text.casefold() for example in self.examples):
            raise InputError("This sentence is already an example. Think of another one.")
        self.examples.append(Example(self._next(), person, label, text))

    def take_back(self, number: object, person: str | None = None) -> None:
        """Remove an example or a try; with `person`, only one of their own."""
        self._keep(lambda given: given.number != number or person not in (None, given.person))

    def forget(self, person: str) -> None:
        self._keep(lambda given: given.person != person)

    def _keep(self, wanted: Callable[[Example | Try], bool]) -> None:
        self.examples[:] = filter(wanted, self.examples)
        self.tries[:] = filter(wanted, self.tries)

    def has_of(self, person: str) -> bool:
        return any(example.person == person for example in self.examples) or any(tried.person == person for tried in self.tries)

    def missing(self) -> str:
        """Why the head cannot be trained yet, or ''."""
        counts = Counter(example.label for example in self.examples)
        few = [label for label in self.labels if counts[label] < FEWEST]
        return f"At least {FEWEST} examples of {' and of '.join(few)} are needed." if few else ""

    def begin(self) -> None:
        """Mark the training as running. Raises InputError if it is already, or examples are missing."""
        if self.busy:
            raise InputError("The head is already being trained.")
        if why := self.missing():
            raise InputError(why)
        self.busy = True

    def store_head(self, head: Classifier, accuracy: float, examples: int) -> None:
        """Store the trained head; tries against the previous head are cleared."""
        self.head, self.accuracy, self.trained_on = head, accuracy, examples
        self.tries.clear()

    def learn(self, examples: list[Example]) -> tuple[Classifier, float]:
        """Train a head on examples. Returns it with its accuracy on held-out examples. Slow; changes nothing in the room."""
        given = Examples(tuple(example.text for example in examples), tuple(example.label for example in examples))
        model = load(self.model)
        result = train_whole(Task(model, given, make_plan(model, -1, "mean", epochs=0)))
        return as_kind(result.predictor, Classifier), float(result.history[result.best].held_out["accuracy"])

    def answer(self, text: str) -> tuple[str, float]:
        """The head's label for a sentence, and its probability. Raises InputError before the first training."""
        if self.head is None:
            raise InputError("The room has not trained its head yet.")
        shares = self.head.classify(load(self.model), [(text, "")])[0]
        return self.head.labels[int(shares.argmax())], float(shares.max())

    def check_try(self, person: str, text: object, meant: object) -> tuple[str, str]:
        """A person's next try as (sentence, label). Raises InputError."""
        label, sentence = self._label(meant), names.sentence(text)
        mine = [tried for tried in self.tries if tried.person == person]
        if len(mine) >= TRIES:
            raise InputError(f"You have used all {TRIES} attempts. Now let the others try.")
        used: list[Example | Try] = [*self.examples, *self.tries]
        if sentence.casefold() in (given.text.casefold() for given in used):
            raise InputError("This sentence has been used. Think of another.")
        return sentence, label

    def tried(self, person: str, text: str, meant: str, answer: tuple[str, float]) -> Try:
        self.tries.append(Try(self._next(), person, text, meant, *answer))
        return self.tries[-1]

    def points(self, person: str) -> int:
        return sum(tried.points for tried in self.tries if tried.person == person)

    def _label(self, label: object) -> str:
        if label not in self.labels:
            raise InputError("Choose one of the labels.")
        return str(label)

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers

    def rows(self, nicknames: Names) -> list[tuple[Any, ...]]:
        """A row of COLUMNS for the head, and one for each example and each try to fool it."""
        about = f"A head for {', '.join(self.labels)}"
        head = f"trained on {self.trained_on} examples" if self.trained_on else "not trained"
        rows: list[tuple[Any, ...]] = [(self.number, "head", about, "", "", "", head, "", None, self.accuracy or None, None)]
        for example in self.examples:
            giver = nicknames[example.person]
            rows.append((self.number, "example", about, example.text, "", giver, example.label, "", None, None, None))
        for tried in self.tries:
            told = nicknames[tried.person], tried.meant, tried.answer, None, tried.share
            rows.append((self.number, "try", about, tried.text, "", *told, tried.points))
        return rows

    # ---- What screens show.

    def for_person(self, person: str) -> dict[str, Any]:
        """What one person's phone may show: their own examples and tries."""
        mine, tries = ([_told(guess) for guess in given if guess.person == person] for given in (self.examples, self.tries))
        told = {"labels": self.labels, "each": EACH, "mine": mine, "busy": self.busy, "trained": self.head is not None}
        return told | {"tries": tries, "left": TRIES - len(tries)}

    def for_board(self, nicknames: Names) -> dict[str, Any]:
        """What the teacher's page may show; `nicknames` by person id."""
        counts = Counter(example.label for example in self.examples)
        told = {"labels": self.labels, "counts": [counts[label] for label in self.labels], "busy": self.busy}
        told["examples"] = [_told(example) for example in self.examples[-LATEST:]]
        told["tries"] = [_told(tried) | {"name": nicknames[tried.person]} for tried in self.tries[-LATEST:]]
        told |= {"trained": self.head is not None, "trained_on": self.trained_on, "accuracy": self.accuracy}
        return told | {"missing": self.missing()}


def _told(one: Example | Try) -> dict[str, Any]:
    """An example or a try without whose it is."""
    told = asdict(one) | ({"fooled": one.fooled} if isinstance(one, Try) else {})
    del told["person"]
    return told
