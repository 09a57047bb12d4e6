"""The Transformer of 2017, an encoder and a decoder, drawn and walked through for a sentence that it translates."""

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.ui.pictures.stepped import Arrow, Box, Step, stepped

SOURCE, TARGET = ("The", "cat", "sleeps"), ("‹start›", "Die", "Katze", "schläft")
END = "‹end›"
WIDTH, HEIGHT = 400, 434
LEFT, RIGHT, COLUMN = 0, 214, 186  # where the columns of the encoder and the decoder begin, and how wide they are
PART, NORM = 30, 18  # heights
ALT = (
    "Left the encoder: embeddings, and six layers of self-attention and feed-forward. Right the decoder: embeddings, and six "
    "layers of masked self-attention, cross-attention to the encoder's output, and feed-forward; then the next word."
)


def encoder_decoder() -> dict[str, Any]:
    """The drawing with its steps: Vaswani et al. 2017, figure 1, from the top down."""
    encoder = ("self-attention", "feed-forward")
    decoder = ("masked self-attention", "cross-attention", "feed-forward")
    boxes = [
        Box("encoder", LEFT, 0, COLUMN, 20, "encoder", "title"),
        Box("decoder", RIGHT, 0, COLUMN, 20, "decoder", "title"),
        *_words("read", LEFT, SOURCE),
        *_words("written", RIGHT, TARGET),
        *_stack("e", LEFT, encoder),
        *_stack("d", RIGHT, decoder),
        Box("e.out", LEFT, 284, COLUMN, PART, "a vector for each word read"),
        Box("d.guess", RIGHT, 346, COLUMN, PART, "linear, softmax"),
        Box("next", RIGHT + 30, 402, COLUMN - 60, PART, "", "word"),
    ]
    return stepped((WIDTH, HEIGHT), boxes, list(_arrows()), _steps(), ALT)


def _words(name: str, left: float, words: Sequence[str]) -> Iterator[Box]:
    """The words side by side, as wide as their letters; of the target only the first is written at the beginning."""
    letters = sum(map(len, words))
    x = left
    for number, word in enumerate(words):
        width = 14 + (COLUMN - 14 * len(words) - 4 * (len(words) - 1)) * len(word) / letters
        yield Box(f"{name}.{number}", x, 24, width, 26, word if name == "read" else "", "word")
        x += width + 4


def _stack(name: str, left: float, parts: Sequence[str]) -> Iterator[Box]:
    """Embeddings, and the parts of a layer with add & norm behind each, in a frame that says how often."""
    yield Box(f"{name}.embeddings", left, 66, COLUMN, PART, "embeddings + positions")
    top = 114.0
    yield Box(f"{name}.frame", left, top, COLUMN, 24 + len(parts) * (PART + NORM + 14), "× 6 layers", "frame")
    for number, part in enumerate(parts):
        y = top + 24 + number * (PART + NORM + 14)
        yield Box(f"{name}.{number}", left + 10, y, COLUMN - 20, PART, part)
        yield Box(f"{name}.norm.{number}", left + 10, y + PART + 4, COLUMN - 20, NORM, "add & norm", "note")


def _arrows() -> Iterator[Arrow]:
    left, right = LEFT + COLUMN / 2, RIGHT + COLUMN / 2
    yield Arrow("read>", (left, 51), (left, 65))
    yield Arrow("written>", (right, 51), (right, 65))
    yield Arrow("e>", (left, 97), (left, 113))
    yield Arrow("d>", (right, 97), (right, 113))
    yield Arrow("e.out>", (left, 263), (left, 283))
    yield Arrow("cross>", (LEFT + COLUMN, 299), (RIGHT + 9, 215), 18)
    yield Arrow("d.guess>", (right, 325), (right, 345))
    yield Arrow("next>", (right, 377), (right, 401))


def _steps() -> list[Step]:
    read = [f"read.{number}" for number in range(len(SOURCE))]
    begun = {f"written.{number}": "" for number in range(1, len(TARGET))} | {"written.0": TARGET[0], "next": ""}
    once = [
        Step(
            "The encoder gets the whole English sentence at once. Every word becomes a vector, with its position added.",
            [*read, "read>", "e.embeddings"],
            {**begun, "written.0": ""},
            "Encoder",
        ),
        Step(
            "In each of its six layers every word looks at all words, to the left and to the right, and is then worked on by "
            "itself. BERT is such a stack, and nothing else.",
            ["e>", "e.frame", "e.0", "e.norm.0", "e.1", "e.norm.1"],
        ),
        Step(
            "What comes out is a vector for each English word. They stay as they are while the decoder writes.",
            ["e.out>", "e.out"],
        ),
        Step(
            "The decoder begins with nothing but a mark for the start.",
            ["written.0", "written>", "d.embeddings"],
            begun,
            "Decoder",
        ),
        Step(
            "Masked self-attention: each word written so far looks at itself and at those before it, never ahead. GPT is a stack "
            "of such layers, without the next part.",
            ["d>", "d.frame", "d.0", "d.norm.0"],
        ),
        Step(
            "Cross-attention: the queries come from the decoder, keys and values from the encoder's vectors. What is being "
            "written looks at all that was read, in one step.",
            ["d.1", "d.norm.1", "e.out", "cross>"],
            title="Cross-attention",
        ),
        Step(
            "A feed-forward block, as in the encoder; and all three parts again in the five layers that follow.",
            ["d.2", "d.norm.2"],
        ),
    ]
    return [*once, *_writing()]


def _writing() -> Iterator[Step]:
    """A step for each word that is written."""
    told = (
        "The last vector gives every word of German a probability. “Die” has most, and is written.",
        "“Die” is put behind the start, and only the decoder runs again: one look at its own words, one at the English ones.",
        "And again, with two words written.",
        "Now the end mark is most probable: the translation is done. Three words were read in one run of the encoder and "
        "written in four runs of the decoder.",
    )
    for number, (text, word) in enumerate(zip(told, (*TARGET[1:], END), strict=True)):
        written = {f"written.{place}": TARGET[place] if place <= number else "" for place in range(len(TARGET))}
        there = [f"written.{place}" for place in range(number + 1)]
        again = ["d.0", "d.1", "cross>", "e.out"] if number else []
        title = "" if number else "Next word"
        yield Step(text, [*there, *again, "d.guess>", "d.guess", "next>", "next"], {**written, "next": word}, title)
