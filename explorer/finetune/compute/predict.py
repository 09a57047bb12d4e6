"""Ask the trained head in this folder: python predict.py "a sentence" ["another one" ...]

It says the label or number of each, or the tags of its words. For a pair of texts, or a question and the text to answer it
from, put ||| between the two: python predict.py "first text ||| second text"
It needs torch and transformers, nothing else. Without a folder `model`, the encoder named in settings.json is fetched
from the Hugging Face hub; --model names another place for it.
"""

import argparse
import json
import unicodedata
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file

HERE = Path(__file__).resolve().parent
MOST = 512  # tokens of a window of question answering
SHARED = 128  # maximum overlap of neighboring windows, in tokens
LONGEST = 30  # tokens of an answer


class Trained(ABC):
    """An encoder of transformers with a trained head on its hidden states; the subclasses are the kinds of task."""

    def __init__(self, model: str | None = None) -> None:
        transformers.logging.set_verbosity_error()  # it warns about the pre-training heads, which are not needed
        transformers.logging.disable_progress_bar()
        self.settings = json.loads((HERE / "settings.json").read_text("utf-8"))
        self.head = load_file(HERE / "head.safetensors")
        source = model or (HERE / "model" if (HERE / "model").is_dir() else self.settings["model"])
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        self.encoder = transformers.AutoModel.from_pretrained(source, dtype=torch.float32).eval()
        self.last = None  # the last hidden state before the final norm, for models that have one
        if path := self.settings.get("final_norm"):
            self.encoder.get_submodule(path).register_forward_pre_hook(self._keep)

    def _keep(self, norm: torch.nn.Module, read: tuple[torch.Tensor]) -> None:
        self.last = read[0]

    def encode(self, *texts: Any, most: int = 2**30, **options: Any) -> transformers.BatchEncoding:
        """What the tokenizer makes of the texts; beyond `most` tokens, or what the model takes, they are cut."""
        limit = {"truncation": True, "max_length": min(most, self.settings["max_tokens"])}
        return self.tokenizer(*texts, **{**limit, **options}, return_tensors="pt")

    def states(self, encoded: transformers.BatchEncoding) -> tuple[list[torch.Tensor], Any]:
        """All hidden states [texts, tokens, hidden], the first being the embedding output, and the encoder's whole output."""
        given = {name: encoded[name] for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded}
        if getattr(self.encoder.config, "type_vocab_size", 0) < 2:
            given.pop("token_type_ids", None)
        output = self.encoder(**given, output_hidden_states=True)
        found = list(output.hidden_states)
        if self.last is not None:
            found[-1] = self.last
        return found, output

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """The head's scores [..., labels] for vectors [..., hidden]."""
        if "hidden_weight" in self.head:
            vectors = torch.relu(vectors @ self.head["hidden_weight"].T + self.head["hidden_bias"])
        return vectors @ self.head["weight"].T + self.head["bias"]

    @abstractmethod
    def tell(self, text: str) -> dict[str, Any]:
        """What the head says of a text, or of two with ||| between them."""


class Predictor(Trained):
    """Gives a text or a pair a label, or a number."""

    @torch.no_grad()
    def __call__(self, texts: list[str], seconds: list[str] | None = None) -> torch.Tensor:
        """The probability of every label for every text, [texts, labels], or for a regression the number, [texts, 1].

        `seconds` are the second texts of pairs.
        """
        encoded = self.encode(texts, seconds, padding=True)
        states, output = self.states(encoded)
        layer, pooling = self.settings["layer"], self.settings["pooling"]
        real = encoded["attention_mask"].unsqueeze(-1)
        vectors = states[layer][:, 0]
        if pooling == "pooler":
            vectors = output.pooler_output
        elif pooling in ("mean", "last4"):
            read = states[max(0, layer - 3) : layer + 1] if pooling == "last4" else [states[layer]]
            vectors = torch.cat([(hidden * real).sum(1) / real.sum(1) for hidden in read], dim=-1)
        scores = self.scores(vectors)
        return scores if self.settings["kind"] == "number" else scores.softmax(-1)

    def tell(self, text: str) -> dict[str, Any]:
        first, _, second = text.partition("|||")
        found = self([first.strip()], [second.strip()] if second else None)[0].tolist()
        if self.settings["kind"] == "number":
            return {"text": text, "number": found[0]}
        named = sorted(zip(self.settings["labels"], found, strict=True), key=lambda pair: -pair[1])
        return {"text": text, "label": named[0][0], "probabilities": dict(named)}


class Tagger(Trained):
    """Gives every word a tag."""

    @torch.no_grad()
    def __call__(self, words: list[str]) -> torch.Tensor:
        """The probability of every tag for every word, [words, tags]; fewer words if not all fit into the model."""
        encoded = self.encode(" ".join(words), return_offsets_mapping=True)
        hidden = self.states(encoded)[0][self.settings["layer"]][0]  # [tokens, hidden]
        starts = list(accumulate((len(word) + 1 for word in words[:-1]), initial=0))
        pieces: dict[int, list[int]] = {}
        for token, (start, end) in enumerate(encoded["offset_mapping"][0].tolist()):
            if end > start:
                pieces.setdefault(bisect_right(starts, end - 1) - 1, []).append(token)
        first = self.settings["pooling"] == "first"
        vectors = torch.stack([hidden[tokens[0]] if first else hidden[tokens].mean(0) for _, tokens in sorted(pieces.items())])
        return self.scores(vectors).softmax(-1)

    def tell(self, text: str) -> dict[str, Any]:
        words = split_words(text)
        shares, best = self(words).max(-1)
        tags = [self.settings["labels"][place] for place in best.tolist()]
        return {"words": words[: len(tags)], "tags": tags, "probabilities": shares.tolist()}


class Answerer(Trained):
    """Finds the answer to a question in a text."""

    @torch.no_grad()
    def __call__(self, question: str, text: str) -> dict[str, Any]:
        """The answer ("" where the text has none), its characters [start, end), and the shares of the best span and of no answer.

        For a long text they are those of the window which is most certain of an answer.
        """
        found, begin = [], 0
        while True:
            part = text[begin:]
            encoded = self.encode(question, part, most=MOST, truncation="only_second", return_offsets_mapping=True)
            places = [place for place, sequence in enumerate(encoded.sequence_ids()) if sequence == 1]
            offsets = encoded["offset_mapping"][0].tolist()
            spans = {place: _without_blanks(offsets[place][0], offsets[place][1], part) for place in places}
            surer, answer = self._in_window(encoded, spans)
            start, end = (begin + character for character in answer.pop("span"))
            said = {"answer": text[start:end], "start": start, "end": end} if surer > 0 else {"answer": "", "start": 0, "end": 0}
            found.append((surer, {**said, **answer}))
            if not encoded.encodings[0].overflowing:
                break
            begin += spans[places[-max(1, min(SHARED, len(places) // 2))]][0]
        return max(found, key=lambda answer: answer[0])[1]

    def _in_window(self, encoded: transformers.BatchEncoding, spans: dict[int, tuple[int, int]]) -> tuple[float, dict[str, Any]]:
        """The margin of the best span over 'no answer', the span in characters, and the shares of both.

        `spans` are the characters [start, end) of each token of the text, by its position.
        """
        places = list(spans)
        scores = self.scores(self.states(encoded)[0][self.settings["layer"]][0])  # [tokens, 2]
        logs = scores.log_softmax(0)
        sums = scores[places, 0][:, None] + scores[places, 1]  # [start, end]
        sums = sums.masked_fill(torch.ones_like(sums).tril(-1) + torch.ones_like(sums).triu(LONGEST) > 0, -torch.inf)
        first, last = (places[place] for place in divmod(int(sums.argmax()), len(places)))
        surer = float(sums.max() - scores[0].sum())
        score, none = float((logs[first, 0] + logs[last, 1]).exp()), float(logs[0].sum().exp())
        return surer, {"span": (spans[first][0], spans[last][1]), "score": score, "no_answer": none}

    def tell(self, text: str) -> dict[str, Any]:
        question, _, about = (part.strip() for part in text.partition("|||"))
        return {"question": question, **self(question, about)}


def split_words(text: str) -> list[str]:
    """The words of a text as BERT's tokenizer first splits it: at whitespace, and around punctuation and Chinese characters."""
    seen = (letter for letter in text if letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cf"))
    return "".join(f" {letter} " if _stands_alone(letter) else letter for letter in seen).split()


def _stands_alone(character: str) -> bool:
    code = ord(character)
    symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
    chinese = chinese or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    return symbol or chinese or unicodedata.category(character).startswith("P")


def _without_blanks(start: int, end: int, text: str) -> tuple[int, int]:
    """Characters [start, end) without leading whitespace, which some tokenizers count as part of a piece."""
    while start < end and text[start].isspace() and not text[start:end].isspace():
        start += 1
    return start, end


KINDS: dict[str, Callable[[str | None], Trained]] = {"classes": Predictor, "number": Predictor, "tags": Tagger, "spans": Answerer}


def main() -> None:
    """Print a line of JSON for every text of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", help="a text, or two with ||| between them")
    parser.add_argument("--model", help="a folder or hub id of the encoder")
    options = parser.parse_args()
    kind = json.loads((HERE / "settings.json").read_text("utf-8"))["kind"]
    trained = KINDS[kind](options.model)
    for text in options.texts:
        print(json.dumps(trained.tell(text), ensure_ascii=False))


if __name__ == "__main__":
    main()
