"""Other architectures, walked through: encoder and decoder, a recurrent network beside attention, an LSTM, transfer."""

from typing import Any

from explorer.model_card.compute.lstm import reading
from explorer.model_card.pictures.encoder_decoder import encoder_decoder
from explorer.model_card.pictures.gates import gates
from explorer.model_card.pictures.long_way import long_way
from explorer.model_card.pictures.transfer import transfer
from explorer.text import limits
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, View, note, part, settle

MOST_WORDS = 20


def _token(value: object) -> int:
    """The zero-based token where the way begins; 0 for the first of the text."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


class EncoderDecoder(View):
    """The Transformer of 2017, step by step."""

    name, question = "model/encoder-decoder", "What did BERT leave away?"
    drawing = part("stepped")
    help = note(
        "**An encoder and a decoder** translate a sentence (Vaswani et al. 2017, figure 1). A drawing of the architecture: "
        "no model runs here, and its words are an example."
    )

    def compute(self, subject: Subject) -> Content:
        """The drawing, the same for every input."""
        return {"drawing": encoder_decoder()}


class LongWay(View):
    """A recurrent network's way from one word to another, beside that of attention."""

    name, question = "model/long-way", "What did attention replace?"
    start: int = memory(0, kept=_token)
    drawing = part("stepped")
    help = note(
        "**A recurrent network beside attention**, for the words above (Vaswani et al. 2017, table 1). A token above is where "
        "something must be known, a word in the drawing is what must be known there. A drawing: no model runs here."
    )

    def compute(self, subject: Subject) -> Content:
        """The drawing for the words of the input around the chosen token."""
        places, start, end = self._way(subject)
        return {"drawing": long_way([subject.trace.tokens[place] for place in places], places, start, end)}

    def finding(self, subject: Subject) -> Finding:
        """The length of both ways."""
        places, start, end = self._way(subject)
        first, last = (subject.trace.tokens[places[row]] for row in (start, end))
        number = abs(end - start)
        steps = f"{number} step{'s' * (number != 1)}"
        return Finding(f"From “{first}” to “{last}” it is {steps} in a recurrent network, and 1 with attention.")

    def _way(self, subject: Subject) -> tuple[list[int], int, int]:
        """The tokens that are drawn, and of these, counted from 0, where the way begins and ends."""
        places, chosen = _places(subject), subject.selection.token
        named = [row for row, place in enumerate(places) if subject.trace.tokens[place].strip("#").isalnum()]
        end = places.index(chosen) if chosen in places else (named or [len(places) - 1])[-1]
        start = places.index(self.start) if self.start in places else 0
        return places, start if start != end else 0 if end else len(places) - 1, end

    def unless(self, subject: Subject) -> str:
        """With fewer than two words there is no way."""
        few = len(_places(subject)) < 2
        return "A way leads from one word to another; type two words at least." if few else ""

    def on_drawing(self, subject: Subject, index: Any) -> Change:
        """Begin the way at the token (zero-based) that was clicked."""
        return settle(start=limits.check_integer(index, "the token", 1, subject.trace.kept - 1))


class Gates(View):
    """The gates of an LSTM at each word of an example."""

    name, question = "model/gates", "How does an LSTM remember?"
    drawing = part("stepped")
    help = note(
        "**One cell of an LSTM** (Hochreiter & Schmidhuber 1997; the forget gate: Gers et al. 2000) reads *dog barks, keys the "
        "man left are* and keeps whether the subject is singular or plural. The numbers are computed; the weights are set by "
        "hand, and there are none for the previous output. A trained LSTM learns them all and has hundreds of cells, few of "
        "which can be read so."
    )

    def compute(self, subject: Subject) -> Content:
        """The drawing, the same for every input."""
        return {"drawing": gates(reading())}


class Transfer(View):
    """What a second task takes over from the first, in a network for pictures and in this model."""

    name, question = "model/transfer", "What does a new task take over?"
    drawing = part("stepped")
    help = note(
        "**Transfer**, as it was first common with pictures, beside BERT. Left a drawing: no model for pictures runs here. Right "
        "the numbers of this model. In *Fine-tune* it is done with sentences of yours."
    )

    def compute(self, subject: Subject) -> Content:
        """The drawing with this model's numbers."""
        has = subject.model.capabilities
        return {"drawing": transfer(has.vocab_size, has.hidden_size, has.parameters)}


def _places(subject: Subject) -> list[int]:
    """Up to MOST_WORDS tokens of the texts: the first ones, or those that end with the chosen one."""
    places = list(subject.trace.encoding.text_positions)
    chosen = subject.selection.token
    end = max(MOST_WORDS, places.index(chosen) + 1 if chosen in places else 0)
    return places[max(0, end - MOST_WORDS) : end]
