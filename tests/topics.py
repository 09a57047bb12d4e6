"""Ten topics as users may type them: three classes of six training sentences each, and four clear test sentences of each."""

from dataclasses import dataclass
from pathlib import Path

from explorer.training.examples import Examples

TYPED = 6  # training sentences of a class; the rest are for testing


@dataclass(frozen=True)
class Topic:
    """The sentences of three classes."""

    lines: dict[str, tuple[str, ...]]

    @property
    def typed(self) -> Examples:
        """The training sentences."""
        return self._part(slice(None, TYPED))

    @property
    def tried(self) -> Examples:
        """The test sentences, each clearly of one class."""
        return self._part(slice(TYPED, None))

    def _part(self, which: slice) -> Examples:
        rows = [(line, name) for name, lines in self.lines.items() for line in lines[which]]
        texts, labels = zip(*rows, strict=True)
        return Examples(texts, labels)


def _topics(text: str) -> dict[str, Topic]:
    """The topics of a file: `# topic`, `## class`, and a sentence per line."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            classes = found.setdefault(line.removeprefix("# "), {})
        elif line.startswith("## "):
            sentences = classes.setdefault(line.removeprefix("## "), [])
        else:
            sentences.append(line)
    return {topic: Topic({name: tuple(lines) for name, lines in classes.items()}) for topic, classes in found.items()}


TOPICS = _topics(Path(__file__).with_suffix(".txt").read_text("utf-8"))
