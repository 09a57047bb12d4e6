"""Hold the app to the numbers that were published of the original BERT: `python -m tests.published`.

google-bert/bert-base-uncased is loaded where a hub or a cache of this machine has it; where none does, a message says so, and
the exit status is 0. `--own` checks the bundled model against its recorded numbers instead; `--record` prints those of a model.
The figures of tests/published.json were printed in public tutorials, rounded as they are there.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import explorer
from explorer.core.errors import ModelError

RECORDED = Path(__file__).with_name("published.json")
ORIGINAL, OWN = "google-bert/bert-base-uncased", "bert-l6-h384-uncased"
COLUMNS = 10  # of the printed vectors
DIGITS = 4  # of what we record of our own model
SKIPPED = "Skipped: {why}"


def differences(model: explorer.Explorer, printed: Mapping[str, Any]) -> Iterator[str]:
    """What a model does differently from what was printed, a sentence each."""
    found, (text_a, text_b) = measured(model, *printed["texts"]), printed["texts"]
    for name in ("tokens", "ids", "segments", "parameters"):
        if found[name] != printed[name]:
            yield f"{name} of {text_a!r} and {text_b!r} are {found[name]}, and were printed as {printed[name]}."
    for name, digits in printed["digits"].items():
        error = np.abs(np.array(found[name]) - np.array(printed[name])).max()
        if not error <= 0.5 * 10**-digits * 1.02 + 1e-5:  # a printed number is rounded
            yield f"{name} differs by {error:.2g} from what was printed with {digits} digits."
    for pair in printed.get("pairs", []):
        if list(model.encode(*pair["texts"]).ids) != pair["ids"]:
            yield f"the ids of {pair['texts']} are others than those printed."


def measured(model: explorer.Explorer, text_a: str, text_b: str) -> dict[str, Any]:
    """What the app says of a pair: the first columns of the last hidden states [tokens, 10], the pooler, ids, and the tables."""
    trace = model.trace(text_a, text_b)
    embeddings = model.module.get_input_embeddings().weight
    module = model.module.bert.embeddings
    return {
        "tokens": list(trace.tokens),
        "ids": list(trace.ids),
        "segments": list(trace.encoding.segments),
        "parameters": masked_lm_parameters(model),
        "last_hidden_state": trace.hidden_states[-1][:, :COLUMNS].tolist(),
        "pooler_output": trace.pooler_output()[:COLUMNS].tolist(),
        "words": embeddings[:3, :3].tolist(),
        "positions": module.position_embeddings.weight[:2, :3].tolist(),
        "segment_vectors": module.token_type_embeddings.weight[:2, :3].tolist(),
    }


def masked_lm_parameters(model: explorer.Explorer) -> int:
    """The parameters of the encoder without its pooler, and of the masked-LM head, whose matrix is the word table."""
    named = model.module.named_parameters()
    return sum(one.numel() for name, one in named if "pooler" not in name and "seq_relationship" not in name)


def recorded(model: explorer.Explorer, text_a: str, text_b: str) -> dict[str, Any]:
    """What `differences` reads, of a model as it is now."""
    found = measured(model, text_a, text_b)
    rounded = {name: np.round(value, DIGITS).tolist() for name, value in found.items() if name not in _EXACT}
    return {"texts": [text_a, text_b], "digits": dict.fromkeys(rounded, DIGITS), **found, **rounded}


_EXACT = ("tokens", "ids", "segments", "parameters")


def main(arguments: list[str] | None = None) -> int:
    """Check, and say what was found; 1 if a number differs, 0 if all are as printed or the model is not there."""
    parser = argparse.ArgumentParser(description="Hold the app to the numbers published of the original BERT.")
    parser.add_argument("--own", action="store_true", help="check the bundled model against its recorded numbers")
    parser.add_argument("--record", metavar="MODEL", help="print the numbers of a model, as published.json has them")
    asked = parser.parse_args(arguments)
    known = json.loads(RECORDED.read_text("utf-8"))
    if asked.record:
        print(json.dumps(recorded(explorer.load(asked.record), *known[ORIGINAL]["texts"])))
        return 0
    name = OWN if asked.own else ORIGINAL
    try:
        model = explorer.load(name)
    except ModelError as error:
        print(SKIPPED.format(why=error))
        return 0
    wrong = list(differences(model, known[name]))
    print("\n".join(wrong) or f"{name}: {len(known[name]['tokens'])} tokens, all numbers are as printed.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
