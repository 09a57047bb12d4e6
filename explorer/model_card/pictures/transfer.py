"""What is taken over when a network learns a second task: one for pictures beside BERT, step by step."""

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.ui.pictures.stepped import Arrow, Box, Step, stepped

WIDTH, COLUMN, RIGHT = 400, 186, 214
TOP, ROW, PART = 24, 46, 30
PICTURES = ("a photo", "edges, colours", "textures", "parts of things", "things")
TEXTS = ("a sentence", "embeddings", "lower layers: grammar", "upper layers: meaning")
LABELS = 2  # of the second task
ALT = (
    "Left a network for pictures: edges, textures, parts, things, then a head. Right BERT: embeddings, lower layers, upper "
    "layers, then a head. In both the head is replaced for a second task, and the rest is kept."
)


def transfer(vocabulary: int, hidden: int, parameters: int) -> dict[str, Any]:
    """The drawing with its steps, for a model with these numbers of pieces, of numbers per token, and of parameters."""
    boxes = [*_column("picture", 0, "a network for pictures", PICTURES), *_column("text", RIGHT, "BERT", TEXTS)]
    height = TOP + ROW * len(PICTURES) + PART
    return stepped((WIDTH, height), boxes, list(_arrows()), list(_steps(vocabulary, hidden, parameters)), ALT)


def _column(name: str, left: float, title: str, parts: Sequence[str]) -> Iterator[Box]:
    yield Box(f"{name}.title", left, 0, COLUMN, 18, title, "title")
    for number, part in enumerate(parts):
        yield Box(f"{name}.{number}", left, TOP + ROW * number, COLUMN, PART, part, "word" if number == 0 else "part")
    yield Box(f"{name}.head", left + 24, TOP + ROW * len(parts), COLUMN - 48, PART, "", "state")


def _arrows() -> Iterator[Arrow]:
    for name, left, parts in (("picture", 0, PICTURES), ("text", RIGHT, TEXTS)):
        for number in range(len(parts)):
            x, y = left + COLUMN / 2, TOP + ROW * number + PART
            yield Arrow(f"{name}>{number}", (x, y + 1), (x, y + ROW - PART - 1))


def _all(name: str, parts: Sequence[str], first: int = 0) -> list[str]:
    """The parts of a column from `first` on, without its head."""
    return [f"{name}.{number}" for number in range(first, len(parts))]


def _steps(vocabulary: int, hidden: int, parameters: int) -> Iterator[Step]:
    pictures, texts = _all("picture", PICTURES), _all("text", TEXTS)
    heads, new = ["picture.head", "text.head"], LABELS * hidden + LABELS
    flows = [f"{name}>{number}" for name, parts in (("picture", PICTURES), ("text", TEXTS)) for number in range(len(parts))]
    yield Step(
        "Both first learn something for which there are examples enough: over a million photos, each of one of 1,000 classes "
        f"(ImageNet), or plain text with blanks, each of one of {vocabulary:,} pieces.",
        [*pictures, *texts, *flows, *heads],
        {"picture.head": "1,000 classes", "text.head": f"{vocabulary:,} pieces"},
        "Pre-training",
    )
    yield Step(
        "In a network for pictures the first layers find edges and colours, which every picture has. Only the last ones are made "
        "for these 1,000 classes (Yosinski et al. 2014).",
        pictures[1:],
        title="General and special",
    )
    yield Step(
        "In BERT, too: what a word is grammatically can be read off in lower layers than who is meant by it (Tenney et al. "
        "2019). Both are of use for other tasks.",
        texts[1:],
    )
    yield Step(
        f"The head is cut off, and a new one put in its place. For {LABELS} labels it has {LABELS} × {hidden} weights and "
        f"{LABELS} biases, {new:,} numbers; the {parameters / 1e6:.1f} million of this model are there already.",
        heads,
        {"picture.head": "ill or well", "text.head": "good or bad"},
        "A new head",
    )
    yield Step(
        "Frozen: only the new head learns, and everything below stays. A few dozen examples can be enough.",
        ["picture>4", "text>3", *heads],
        title="Training",
    )
    yield Step(
        "Fine-tuned: the layers learn too, all or only the upper ones, in small steps, so that little is forgotten. The tab "
        "Fine-tune does both, with this model.",
        [*pictures[1:], *texts[1:], *flows, *heads],
    )
