"""Compare the app with the numbers that were published of the original BERT: `python -m tests.published`.

google-bert/bert-base-uncased is loaded where a hub or a cache of this machine has it. The figures of tests/published.json were
printed in public tutorials, rounded as they are there.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import explorer
from explorer.core.errors import ModelError

RECORDED = Path(__file__).with_name("published.json")
ORIGINAL = "google-bert/bert-base-uncased"
COLUMNS = 10  # of the printed vectors


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
    """What the app says of a pair: the first columns of the last hidden states [tokens, 10], the pooler, ids, and the tables.

    Parameters are those of a masked-LM model: without the pooler; the head's matrix is the word table.
    """
    trace, named = model.trace(text_a, text_b), model.module.named_parameters()
    embeddings = model.module.get_input_embeddings().weight
    module = model.module.bert.embeddings
    return {
        "tokens": list(trace.tokens),
        "ids": list(trace.ids),
        "segments": list(trace.encoding.segments),
        "parameters": sum(one.numel() for name, one in named if "pooler" not in name and "seq_relationship" not in name),
        "last_hidden_state": trace.hidden_states[-1][:, :COLUMNS].tolist(),
        "pooler_output": trace.pooler_output()[:COLUMNS].tolist(),
        "words": embeddings[:3, :3].tolist(),
        "positions": module.position_embeddings.weight[:2, :3].tolist(),
        "segment_vectors": module.token_type_embeddings.weight[:2, :3].tolist(),
    }


if __name__ == "__main__":
    try:
        original = explorer.load(ORIGINAL)
    except ModelError as error:
        sys.exit(f"Skipped: {error}")
    sys.exit("\n".join(differences(original, json.loads(RECORDED.read_text("utf-8")))))
