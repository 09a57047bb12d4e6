"""Say what texts are with what is in this folder: python predict.py "a sentence" ["another one" ...]

For pairs, put ||| between the two texts: python predict.py "first text ||| second text"
It needs torch and transformers, nothing else. Without a folder `model`, the encoder named in settings.json is fetched
from the Hugging Face hub; --model names another place for it.
"""

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer, logging

HERE = Path(__file__).resolve().parent
logging.set_verbosity_error()  # it warns about the pre-training heads, which are not needed
logging.disable_progress_bar()


class Predictor:
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
    def __call__(self, texts: list[str], seconds: list[str] | None = None) -> torch.Tensor:
        """The probability of every label for every text, [texts, labels], or for a regression the number, [texts, 1].

        `seconds` are the second texts of pairs.
        """
        limit = self.settings["max_tokens"]
        encoded = self.tokenizer(texts, seconds, padding=True, truncation=True, max_length=limit, return_tensors="pt")
        if getattr(self.encoder.config, "type_vocab_size", 0) < 2:
            encoded.pop("token_type_ids", None)
        output = self.encoder(**encoded, output_hidden_states=True)
        layer = self.settings["layer"]
        states = list(output.hidden_states)  # [texts, tokens, hidden] each; the first is the embedding output
        if self.last is not None:
            states[-1] = self.last
        real = encoded["attention_mask"].unsqueeze(-1)
        pooling = self.settings["pooling"]
        vectors = states[layer][:, 0]
        if pooling == "pooler":
            vectors = output.pooler_output
        elif pooling in ("mean", "last4"):
            read = states[max(0, layer - 3) : layer + 1] if pooling == "last4" else [states[layer]]
            vectors = torch.cat([(hidden * real).sum(1) / real.sum(1) for hidden in read], dim=-1)
        if "hidden_weight" in self.head:
            vectors = torch.relu(vectors @ self.head["hidden_weight"].T + self.head["hidden_bias"])
        scores = vectors @ self.head["weight"].T + self.head["bias"]
        return scores if self.settings["kind"] == "number" else scores.softmax(-1)


def main() -> None:
    """Print, for every text of the command line, the best label and the probability of each label, or the number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--model", help="a folder or hub id of the encoder")
    options = parser.parse_args()
    predict = Predictor(options.model)
    for text in options.texts:
        first, _, second = text.partition("|||")
        found = predict([first.strip()], [second.strip()] if second else None)[0].tolist()
        if predict.settings["kind"] == "number":
            said = {"number": found[0]}
        else:
            named = sorted(zip(predict.settings["labels"], found, strict=True), key=lambda pair: -pair[1])
            said = {"label": named[0][0], "probabilities": dict(named)}
        print(json.dumps({"text": text, **said}, ensure_ascii=False))


if __name__ == "__main__":
    main()
