"""Ask the trained head in this folder: python predict.py "a sentence" ["another one" ...]

It says the label or number of each, or the tags of its words. For a pair of texts, or a question and the text to answer it
from, put ||| between the two: python predict.py "first text ||| second text"
It needs torch and transformers, nothing else. Without a folder `model`, the encoder named in settings.json is fetched
from the Hugging Face hub; --model names another place for it.
"""

import argparse
import json
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

HERE = Path(__file__).resolve().parent
MOST = 512  # tokens of a question with its text
LONGEST = 30  # tokens of an answer


class Trained:
    """An encoder of transformers with a trained head on one of its hidden states."""

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

    @torch.no_grad()
    def ask(self, text: str) -> dict[str, Any]:
        """What the head says of a text, or of two with ||| between them."""
        first, _, second = (part.strip() for part in text.partition("|||"))
        kind = self.settings["kind"]
        if kind == "spans":
            return {"question": first, **self.answer(first, second)}
        return self.tag(text) if kind == "tags" else {"text": text, **self.classify(first, second)}

    def encode(self, *texts: str, most: int = 2**30) -> transformers.BatchEncoding:
        """What the tokenizer makes of a text or a pair; beyond `most` tokens, or what the model takes, it is cut."""
        most = min(most, self.settings["max_tokens"])
        options = {"truncation": True, "max_length": most, "return_offsets_mapping": True, "return_tensors": "pt"}
        return self.tokenizer(*texts, **options)

    def states(self, encoded: transformers.BatchEncoding) -> tuple[list[torch.Tensor], Any]:
        """The hidden states [tokens, hidden], the first being the embedding output, and the encoder's whole output."""
        given = {name: encoded[name] for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded}
        if getattr(self.encoder.config, "type_vocab_size", 0) < 2:
            given.pop("token_type_ids", None)
        output = self.encoder(**given, output_hidden_states=True)
        states = [*output.hidden_states[:-1], output.hidden_states[-1] if self.last is None else self.last]
        return [state[0] for state in states], output

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """The head's scores [..., labels] for vectors [..., hidden]."""
        if "hidden_weight" in self.head:
            vectors = torch.relu(vectors @ self.head["hidden_weight"].T + self.head["hidden_bias"])
        return vectors @ self.head["weight"].T + self.head["bias"]

    def classify(self, *texts: str) -> dict[str, Any]:
        """The label of a text or a pair and the probability of each label, or the number."""
        states, output = self.states(self.encode(*filter(None, texts)))
        layer, pooling = self.settings["layer"], self.settings["pooling"]
        vector = output.pooler_output[0] if pooling == "pooler" else states[layer][0]
        if pooling in ("mean", "last4"):
            read = states[max(0, layer - 3) : layer + 1] if pooling == "last4" else [states[layer]]
            vector = torch.cat([hidden.mean(0) for hidden in read])
        if self.settings["kind"] == "number":
            return {"number": self.scores(vector).item()}
        shares = zip(self.settings["labels"], self.scores(vector).softmax(-1).tolist(), strict=True)
        ranked = sorted(shares, key=lambda pair: -pair[1])
        return {"label": ranked[0][0], "probabilities": dict(ranked)}

    def tag(self, text: str) -> dict[str, Any]:
        """The tag of every word and its probability; fewer words if not all fit into the model."""
        plain = BertNormalizer(lowercase=False, strip_accents=False).normalize_str(text)
        words = [word for word, _ in BertPreTokenizer().pre_tokenize_str(plain)]
        encoded = self.encode(" ".join(words))
        hidden = self.states(encoded)[0][self.settings["layer"]]  # [tokens, hidden]
        starts = list(accumulate((len(word) + 1 for word in words[:-1]), initial=0))
        pieces: dict[int, list[int]] = {}
        for token, (start, end) in enumerate(encoded["offset_mapping"][0].tolist()):
            if end > start:
                pieces.setdefault(bisect_right(starts, end - 1) - 1, []).append(token)
        first = self.settings["pooling"] == "first"
        vectors = torch.stack([hidden[tokens[0]] if first else hidden[tokens].mean(0) for _, tokens in sorted(pieces.items())])
        shares, best = self.scores(vectors).softmax(-1).max(-1)
        tags = [self.settings["labels"][place] for place in best.tolist()]
        return {"words": words[: len(tags)], "tags": tags, "probabilities": shares.tolist()}

    def answer(self, question: str, text: str) -> dict[str, Any]:
        """The answer ("" where the text has none), its characters [start, end), and the shares of the best span and of no answer.

        Of a long text only the beginning is read.
        """
        encoded = self.encode(question, text, most=MOST)
        offsets = encoded["offset_mapping"][0].tolist()
        places = [place for place, sequence in enumerate(encoded.sequence_ids()) if sequence == 1]
        scores = self.scores(self.states(encoded)[0][self.settings["layer"]])  # [tokens, 2]
        logs = scores.log_softmax(0)
        sums = scores[places, 0][:, None] + scores[places, 1]  # [start, end]
        sums = sums.masked_fill(torch.ones_like(sums).tril(-1) + torch.ones_like(sums).triu(LONGEST) > 0, -torch.inf)
        first, last = (places[place] for place in divmod(int(sums.argmax()), len(places)))
        found = sums.max() > scores[0].sum()
        start, end = (_first_letter(text, *offsets[first]), offsets[last][1]) if found else (0, 0)
        shares = {"score": float((logs[first, 0] + logs[last, 1]).exp()), "no_answer": float(logs[0].sum().exp())}
        return {"answer": text[start:end], "start": start, "end": end, **shares}


def _first_letter(text: str, start: int, end: int) -> int:
    """The first character of [start, end) that is not blank: some tokenizers count the blank before a piece as part of it."""
    return end - len(text[start:end].lstrip()) if text[start:end].strip() else start


def main() -> None:
    """Print a line of JSON for every text of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", help="a text, or two with ||| between them")
    parser.add_argument("--model", help="a folder or hub id of the encoder")
    options = parser.parse_args()
    trained = Trained(options.model)
    for text in options.texts:
        print(json.dumps(trained.ask(text), ensure_ascii=False))


if __name__ == "__main__":
    main()
