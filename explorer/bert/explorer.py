"""One loaded model with its tokenizer: the object that tabs, endpoints and notebooks use."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from explorer.bert import attending, checkpoints
from explorer.bert.batcher import Batcher
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.hub import Report
from explorer.bert.network import MaskGuesses, Network
from explorer.bert.tokenizer import encode, typed_span
from explorer.bert.trace import Reading, Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, transformers
from explorer.core.errors import InputError
from explorer.core.limits import CACHE_MEGABYTES, GUESSES, MODELS
from explorer.text import limits
from explorer.text.encoding import UNKNOWN, Encoding
from explorer.text.pieces import Writing, with_own_mask

ENCODED = 50_000  # tokens of the encodings that a model keeps: 10 MB
HEADS_KEPT = 64  # tokens up to which a trace keeps queries, keys and values: 7 MB for BERT-base

Span = tuple[int, int]
"""Characters [start, end) of a text."""
Text = str | Sequence[str]
"""A text, or a pair of texts."""


@dataclass(frozen=True)
class NextSentence:
    """The probabilities that B follows A and that it does not.

    Index 0 of the model's output is IsNext: Devlin et al. 2019, section 3.1, task 2.
    """

    is_next: float
    not_next: float
    logits: tuple[float, float]  # (IsNext, NotNext)


_models: OnceCache[Checkpoint, Explorer] = OnceCache(MODELS.most)


def load(name: str | os.PathLike[str] | None = None, report: Report | None = None) -> Explorer:
    """The model called `name`: the bundled one, a folder, or an id on the Hub such as google-bert/bert-base-uncased.

    The latest models stay loaded, and loading them again is free. `report(share, what)` receives the progress of a download.
    Raises ModelError when there is no such model or it cannot be read.
    """
    checkpoint = checkpoints.find(name, report)
    return _models.get(checkpoint, lambda: Explorer(checkpoint))


def list_loaded() -> list[Explorer]:
    return _models.values()


class Explorer(Network):
    """A model that reads text: the network with its tokenizer, and a cache of the latest traces."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self._tokenizing = threading.Lock()  # truncation is a state of the tokenizer
        self._encodings: OnceCache[tuple[str, str], Encoding] = OnceCache(ENCODED, lambda encoding: encoding.kept)
        self._batcher = Batcher()
        self._readings: OnceCache[tuple[str, str], Reading] = OnceCache(CACHE_MEGABYTES.bytes, lambda one: one.nbytes)

    @property
    def trace_bytes(self) -> int:
        return int(self._readings.total)

    def encode(self, text_a: str, text_b: str = "") -> Encoding:
        """The encoding of A, or of A and B, cut to what fits (the longer text first).

        Raises InputError when a text is empty, too long, or consists of nothing that the tokenizer keeps.
        """
        texts = _check_texts(text_a, text_b)
        return self._encodings.get(texts, lambda: self._encode(*texts))

    def encode_many(self, texts: list[str]) -> list[tuple[int, ...]]:
        """The ids of each checked text, encoded alone and cut to what fits; ten times as fast as `encode` on each.

        Raises InputError when one consists of nothing that the tokenizer keeps.
        """
        mask = self.tokenizer.mask_token
        return [tuple(ids) for ids in self._encode_many([with_own_mask(text, mask)[0] for text in texts])["input_ids"]]

    def encode_many_with_spans(self, texts: list[str]) -> list[tuple[tuple[int, ...], list[Span | None]]]:
        """Like `encode_many`, with the characters [start, end) of the text for every id; None for ids the tokenizer added."""
        mask = self.tokenizer.mask_token
        read = [with_own_mask(text, mask) for text in texts]
        encoded = self._encode_many([text for text, _ in read], return_offsets_mapping=True)
        found = []
        for row, (ids, offsets) in enumerate(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)):
            added = (sequence is None for sequence in encoded.sequence_ids(row))
            text, masks = read[row]
            typed = (typed_span(start, end, text, masks, len(mask)) for start, end in offsets)
            found.append((tuple(ids), [None if new else span for span, new in zip(typed, added, strict=True)]))
        return found

    def trace(self, text_a: str, text_b: str = "") -> Trace:
        """One forward pass over A, or A and B, cached by the texts. Raises InputError when one of them cannot be used."""
        texts = _check_texts(text_a, text_b)
        return Trace(self, self._readings.get(texts, lambda: self._read(*texts)))

    def fill_mask(self, text: str, text_b: str = "", top_k: int = 5) -> list[MaskGuesses]:
        """The `top_k` best guesses for each [MASK], in order of position, each independently, with all others left blank.

        Raises CapabilityError without a masked-LM head, InputError when there is no [MASK].
        """
        self.require("fill_mask")
        top_k = limits.check_integer(top_k, "top_k", 1, GUESSES.most)
        trace = self.trace(text, text_b)
        positions = trace.blanks()
        return self.guesses(trace.states[-1][positions], positions, top_k)

    @inference_mode
    def next_sentence(self, text_a: str, text_b: str) -> NextSentence:
        """The probability that B follows A.

        Raises CapabilityError without a next-sentence head, InputError when a text is missing.
        """
        self.require("next_sentence")
        trace = self.trace(text_a, limits.check_text(text_b, "text B"))
        logits = self.next_sentence_logits(trace.states[-1:])[0]  # [2]
        is_next, not_next = logits.softmax(-1).tolist()
        return NextSentence(is_next, not_next, tuple(logits.tolist()))

    def _encode_many(self, texts: list[str], **options: bool) -> transformers.BatchEncoding:
        """The tokenizer's result for texts with its own mask token. Raises InputError for texts of which it keeps nothing."""
        with self._tokenizing:
            encoded = self.tokenizer(texts, truncation=True, max_length=self.capabilities.max_tokens, **options)
            added = self.tokenizer.num_special_tokens_to_add()
        for ids, text in zip(encoded["input_ids"], texts, strict=True):
            if len(ids) <= added:
                raise InputError(f"A text has nothing that BERT can read: {text[:40]!r}. Give at least one word.")
        return encoded

    def _read(self, text_a: str, text_b: str) -> Reading:
        self._readings.weigh_again()  # their derived values may have grown
        return self._batcher.result(self.encode(text_a, text_b), self._read_together)

    def _read_together(self, encodings: Sequence[Encoding]) -> list[Reading]:
        """One pass over several encodings. Of a short one that is alone it keeps the heads, which most views ask for."""
        keep = len(encodings) == 1 and encodings[0].kept <= HEADS_KEPT and self.device.type == "cpu"
        with attending.collect() if keep else nullcontext(()) as heads:
            states = self.hidden_states_of(encodings)
        return [Reading(*pair, heads=tuple(heads)) for pair in zip(encodings, states, strict=True)]

    def _encode(self, text_a: str, text_b: str) -> Encoding:
        tokenizer = self.tokenizer
        with self._tokenizing:
            own, most = tokenizer.backend_tokenizer, self.capabilities.max_tokens
            read = encode(own, most, text_a, text_b, tokenizer.mask_token, tokenizer.truncation_side)
        if read is None:
            raise InputError("One of the texts has nothing that BERT can read. Type at least one word.")
        # Some tokenizers give no segments; their models were trained without.
        has_segments = self.capabilities.segments and "token_type_ids" in tokenizer.model_input_names
        return replace(
            read,
            tokens=tuple(self.pieces(list(read.ids))),
            segments=read.segments if has_segments else (0,) * read.kept,
            unknown=tokenizer.unk_token or UNKNOWN,
            hashes=self.writing is Writing.WORDPIECE,
        )


def _check_texts(text_a: object, text_b: object) -> tuple[str, str]:
    return limits.check_text(text_a, "text A"), limits.check_optional_text(text_b, "text B")
