"""The card of the bundled model says what the bundled model does."""

import re
from pathlib import Path

import pytest
import torch
from transformers import BertForPreTraining

from explorer.pretraining.blanks import fill

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "models" / "bert-l6-h384-uncased"


@pytest.fixture(scope="module")
def card():
    return (FOLDER / "README.md").read_text("utf-8")


def test_transformers_reads_the_folder_whole_and_small(card):
    model, report = BertForPreTraining.from_pretrained(FOLDER, dtype=torch.float16, output_loading_info=True)
    assert not any(report.values())
    assert (FOLDER / "model.safetensors").stat().st_size < 50e6
    assert f"{sum(weights.numel() for weights in model.parameters()) / 1e6:.1f} million parameters" in card


def test_the_table_of_blanks_is_what_the_model_says(bundled, card):
    filled = list(fill(bundled))
    assert len(filled) == 20
    for line in filled:
        told = re.search(rf"^\| {line.kind} \| {re.escape(line.sentence)} \| (.*) \| (yes|no) \|$", card, re.MULTILINE)
        assert told, line.sentence
        guess, share = re.match(r"\**([^* ]+)\** (\d+)", told[1]).groups()
        assert guess == line.guesses[0].token
        assert int(share) == pytest.approx(100 * line.guesses[0].probability, abs=1)
        assert told[2] == ("yes" if any(line.right) else "no")
    among, first = sum(any(line.right) for line in filled), sum(line.right[0] for line in filled)
    assert among >= 16
    assert f"{among} of 20 have a sensible word (bold) among the five, {first} in first place" in card
