"""The check against published numbers, run on the bundled model: what transformers computes passes, other numbers do not."""

import pytest
import torch
import transformers

from tests import published

TEXTS = ("I was thirsty!", "I drank water :D")


@pytest.fixture(scope="module")
def printed(bundled):
    """What transformers computes of the bundled model, as published.json has the numbers of the original."""
    folder = bundled.checkpoint.folder
    model = transformers.BertModel.from_pretrained(folder, dtype=torch.float32)
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(*TEXTS, return_tensors="pt")
    with torch.no_grad():
        outputs = model(**inputs)
    ids = inputs["input_ids"][0].tolist()
    return {
        **{"texts": TEXTS, "digits": {"last_hidden_state": 4, "pooler_output": 4, "words": 4, "positions": 4}, "ids": ids},
        "tokens": bundled.tokenizer.convert_ids_to_tokens(ids),
        "segments": inputs["token_type_ids"][0].tolist(),
        "parameters": sum(one.numel() for one in transformers.BertForMaskedLM.from_pretrained(folder).parameters()),
        "last_hidden_state": outputs.last_hidden_state[0, :, : published.COLUMNS].tolist(),
        "pooler_output": outputs.pooler_output[0, : published.COLUMNS].tolist(),
        "words": model.embeddings.word_embeddings.weight[:3, :3].tolist(),
        "positions": model.embeddings.position_embeddings.weight[:2, :3].tolist(),
    }


def test_the_bundled_model_has_the_numbers_that_transformers_computes(bundled, printed):
    assert list(published.differences(bundled, printed)) == []


@pytest.mark.parametrize("name", ["ids", "parameters", "pooler_output"])
def test_another_number_is_told(bundled, printed, name):
    other = [one + 1 for one in printed[name]] if isinstance(printed[name], list) else printed[name] + 1
    (told,) = published.differences(bundled, {**printed, name: other})
    assert told.startswith(name)
