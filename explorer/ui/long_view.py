"""A view with many forward passes: run immediately where that is quick, otherwise on request."""

from abc import abstractmethod
from collections.abc import Generator, Hashable
from typing import Any, ClassVar

from explorer.bert.capabilities import Capabilities
from explorer.core.cache import OnceCache, weight
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import finished
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View

QUICK = 60e9  # multiplications done without a button press: about a second on two cores
RESULTS = 64  # that are kept, if all are small
_results: OnceCache[Hashable, Any] = OnceCache(
    RESULTS_MEGABYTES.bytes, lambda one: max(RESULTS_MEGABYTES.bytes // RESULTS, weight(one))
)


class LongView(View):
    """A view with many forward passes: run immediately if quick, otherwise when `start` is pressed; it can be stopped.

    With `start` = '' it runs in the background whenever its key changes, unless that is None; its results are not cached here.
    """

    start: ClassVar[str] = ""
    waits: ClassVar[bool] = False  # whether it waits for `start` even where it is quick

    def passes(self, subject: Subject) -> float:
        """The cost of the work in forward passes."""
        return 0

    @abstractmethod
    def work(self, subject: Subject) -> Generator[Any, None, Any]:
        """The work: yields its progress (a share, 0 to 1, or a sentence and a share), and returns the result for `draw`."""

    @abstractmethod
    def draw(self, subject: Subject, found: Any) -> Content:
        """The content for a result."""

    def waiting(self, subject: Subject) -> Content:
        """The content before the result."""
        return {name: None for name, one in self.parts.items() if one.kind in ("chart", "sentence", "check")}

    def at_once(self, subject: Subject) -> Any | None:
        """The result of automatic work, if it takes no longer than a picture may."""
        return None

    def prepare(self) -> None:
        """Called after the result is shown: for work that no user should wait for."""

    def key(self, subject: Subject) -> Hashable:
        changed = tuple(str(getattr(self, name)) for name in self.settings)
        return (self.name, subject.model_name, subject.text_a, subject.text_b, subject.selection.token, changed)

    def known(self, subject: Subject) -> Any | None:
        """The result, if it is cached, or quickly computed and not waited for."""
        found = _results.peek(self.key(subject))
        if found is None and not self.waits and is_quick(subject, self.passes(subject)):
            return self.result(subject)
        return found

    def result(self, subject: Subject) -> Any:
        """The result, however long it takes."""
        if not self.start:
            return finished(self.work(subject))
        return _results.get(self.key(subject), lambda: finished(self.work(subject)))

    def keep(self, subject: Subject, found: Any) -> None:
        """Cache a result that was computed step by step."""
        _results.get(self.key(subject), lambda: found)

    def compute(self, subject: Subject) -> Content:
        return self.draw(subject, self.result(subject))

    def open(self, subject: Subject) -> Content:
        found = self.known(subject)
        return self.waiting(subject) if found is None else self.draw(subject, found)


def is_quick(subject: Subject, passes: float) -> bool:
    """Whether this many forward passes over the input take about a second at most."""
    model = subject.model.capabilities
    return reads_quickly(model, passes) and reads_quickly(model, passes * subject.trace.kept)


def seconds(subject: Subject, passes: float) -> float:
    model = subject.model.capabilities
    return 12 * model.layers * model.hidden_size**2 * passes * subject.trace.kept / QUICK


def reads_quickly(model: Capabilities, tokens: float) -> bool:
    """Whether a model, by its capabilities, reads this many tokens in about a second."""
    return 12 * model.layers * model.hidden_size**2 * tokens <= QUICK
