"""The check against published numbers, run on the bundled model: it passes as recorded, and tells of any number that differs."""

import json

import pytest
import torch
import transformers

from tests import published


@pytest.fixture(scope="module")
def known():
    return json.loads(published.RECORDED.read_text("utf-8"))


def test_the_bundled_model_has_its_recorded_numbers(bundled, known, capsys):
    assert not list(published.differences(bundled, known[published.OWN]))
    assert published.main(["--own"]) == 0
    assert "all numbers are as printed" in capsys.readouterr().out


def test_what_is_recorded_is_what_transformers_computes(bundled, known):
    own = known[published.OWN]
    folder = bundled.checkpoint.folder
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder, dtype=torch.float32)
    inputs = tokenizer(*own["texts"], return_tensors="pt")
    with torch.no_grad():
        outputs = model(**inputs)
    assert inputs["input_ids"][0].tolist() == own["ids"]
    assert outputs.last_hidden_state[0, :, :10].numpy() == pytest.approx(torch.tensor(own["last_hidden_state"]).numpy(), abs=1e-4)
    assert outputs.pooler_output[0, :10].numpy() == pytest.approx(torch.tensor(own["pooler_output"]).numpy(), abs=1e-4)
    masked_lm = transformers.BertForMaskedLM.from_pretrained(folder)
    assert sum(one.numel() for one in masked_lm.parameters()) == own["parameters"]
