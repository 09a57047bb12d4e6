"""Tag the words of texts with what is in this folder: python predict.py "a sentence" ["another one" ...]

It needs torch and transformers, nothing else. Without a folder `model`, the encoder named in settings.json is fetched
from the Hugging Face hub; --model names another place for it.
"""

import argparse
import json
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer, logging

HERE = Path(__file__).resolve().parent
logging.set_verbosity_error()  # it warns about the pre-training heads, which are not needed
logging.disable_progress_bar()


class Tagger:
    """An encoder of transformers with a trained head on one of its hidden states."""

    def __init__(self, model: str | None = None) -> None:
        self.settings = json.loads((HERE / "settings.json").read_text("utf-8"))
        self.head = load_file(HERE / "head.safetensors")
        source = model or (HERE / "model" if (HERE / "model").is_dir() else self.settings["model"])
        self.tokenizer = AutoTokenizer.from_pretrained(source)
        self.encoder = AutoModel.from_pretrained(source, dtype=torch.float32).eval()
        self.last = None  # the last hidden state before the final norm, for models that have one
        if path := self.settings.get("final_norm"):
            self.encoder.get_submodule(path).register_forward_pre_hook(self._keep)

    def _keep(self, norm: torch.nn.Module, read: tuple[torch.Tensor]) -> None:
        self.last = read[0]

    @torch.no_grad()
    def __call__(self, words: list[str]) -> torch.Tensor:
        """The probability of every tag for every word, [words, tags]; fewer words if not all fit into the model."""
        limit = self.settings["max_tokens"]
        text = " ".join(words)
        encoded = self.tokenizer(text, truncation=True, max_length=limit, return_offsets_mapping=True, return_tensors="pt")
        offsets = encoded.pop("offset_mapping")[0].tolist()
        if getattr(self.encoder.config, "type_vocab_size", 0) < 2:
            encoded.pop("token_type_ids", None)
        output = self.encoder(**encoded, output_hidden_states=True)
        layer = self.settings["layer"]
        hidden = output.hidden_states[layer][0]  # [tokens, hidden]; 0 is the embedding output
        if self.last is not None and layer == len(output.hidden_states) - 1:
            hidden = self.last[0]
        starts = list(accumulate((len(word) + 1 for word in words[:-1]), initial=0))
        pieces: dict[int, list[int]] = {}
        for token, (start, end) in enumerate(offsets):
            if end > start:
                pieces.setdefault(bisect_right(starts, end - 1) - 1, []).append(token)
        first = self.settings["pooling"] == "first"
        vectors = torch.stack([hidden[tokens[0]] if first else hidden[tokens].mean(0) for _, tokens in sorted(pieces.items())])
        if "hidden_weight" in self.head:
            vectors = torch.relu(vectors @ self.head["hidden_weight"].T + self.head["hidden_bias"])
        return (vectors @ self.head["weight"].T + self.head["bias"]).softmax(-1)


def split_words(text: str) -> list[str]:
    """The words of a text as BERT's tokenizer first splits it: at whitespace, and around punctuation and Chinese characters."""
    seen = (one for one in text if one.isspace() or unicodedata.category(one) not in ("Cc", "Cf"))
    return "".join(f" {one} " if _stands_alone(one) else one for one in seen).split()


def _stands_alone(character: str) -> bool:
    code = ord(character)
    symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
    chinese = chinese or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    return symbol or chinese or unicodedata.category(character).startswith("P")


def main() -> None:
    """Print the words of every text of the command line, their tags, and the probability of each tag."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--model", help="a folder or hub id of the encoder")
    options = parser.parse_args()
    tagger = Tagger(options.model)
    for text in options.texts:
        words = split_words(text)
        shares, best = tagger(words).max(-1)
        tags = [tagger.settings["labels"][place] for place in best.tolist()]
        print(json.dumps({"words": words[: len(tags)], "tags": tags, "probabilities": shares.tolist()}, ensure_ascii=False))


if __name__ == "__main__":
    main()
