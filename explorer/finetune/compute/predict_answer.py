"""Find answers with what is in this folder: python predict.py "a question ||| a text" ["another one ||| its text" ...]

It prints the answer ("" where the text has none), its characters [start, end) in the text, and the shares of the best span and
of no answer. It needs torch and transformers, nothing else. Without a folder `model`, the encoder named in settings.json is
fetched from the Hugging Face hub; --model names another place for it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file

HERE = Path(__file__).resolve().parent
MOST = 512  # tokens of a window
SHARED = 128  # maximum overlap of neighboring windows, in tokens
LONGEST = 30  # tokens of an answer


class Answerer:
    """An encoder of transformers with a trained head that scores where an answer begins and ends."""

    def __init__(self, model: str | None = None) -> None:
        transformers.logging.set_verbosity_error()
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

    def __call__(self, question: str, text: str) -> dict[str, Any]:
        """The answer; for a long text that of the window which is most certain of one."""
        found, begin = [], 0
        while True:
            part = text[begin:]
            encoded = self._encode(question, part)
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
        return max(found, key=lambda one: one[0])[1]

    def _encode(self, question: str, text: str) -> transformers.BatchEncoding:
        limit = {"truncation": "only_second", "max_length": min(MOST, self.settings["max_tokens"])}
        return self.tokenizer(question, text, **limit, return_offsets_mapping=True, return_tensors="pt")

    @torch.no_grad()
    def _in_window(self, encoded: transformers.BatchEncoding, spans: dict[int, tuple[int, int]]) -> tuple[float, dict[str, Any]]:
        """The margin of the best span over 'no answer', the span in characters, and the shares of both.

        `spans` are the characters [start, end) of each token of the text, by its position.
        """
        places = list(spans)
        given = {name: encoded[name] for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded}
        if getattr(self.encoder.config, "type_vocab_size", 0) < 2:
            given.pop("token_type_ids", None)
        hidden = self.encoder(**given, output_hidden_states=True).hidden_states
        layer = self.settings["layer"]
        vectors = (self.last if self.last is not None and layer == len(hidden) - 1 else hidden[layer])[0]
        if "hidden_weight" in self.head:
            vectors = torch.relu(vectors @ self.head["hidden_weight"].T + self.head["hidden_bias"])
        scores = vectors @ self.head["weight"].T + self.head["bias"]  # [tokens, 2]
        logs = scores.log_softmax(0)
        sums = scores[places, 0][:, None] + scores[places, 1]  # [start, end]
        sums = sums.masked_fill(torch.ones_like(sums).tril(-1) + torch.ones_like(sums).triu(LONGEST) > 0, -torch.inf)
        first, last = (places[place] for place in divmod(int(sums.argmax()), len(places)))
        surer = float(sums.max() - scores[0].sum())
        score, none = float((logs[first, 0] + logs[last, 1]).exp()), float(logs[0].sum().exp())
        return surer, {"span": (spans[first][0], spans[last][1]), "score": score, "no_answer": none}


def _without_blanks(start: int, end: int, text: str) -> tuple[int, int]:
    """Characters [start, end) without leading whitespace, which some tokenizers count as part of a piece."""
    while start < end and text[start].isspace() and not text[start:end].isspace():
        start += 1
    return start, end


def main() -> None:
    """Print the answer to every question of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="+", help="a question and its text, with ||| between them")
    parser.add_argument("--model", help="a folder or hub id of the encoder")
    options = parser.parse_args()
    answer = Answerer(options.model)
    for asked in options.questions:
        question, _, text = asked.partition("|||")
        print(json.dumps({"question": question.strip(), **answer(question.strip(), text.strip())}, ensure_ascii=False))


if __name__ == "__main__":
    main()
