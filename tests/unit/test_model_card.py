"""The card of the bundled model says what the bundled model does."""

import re
from pathlib import Path

import pytest
import torch
from transformers import BertForPreTraining

from tests.recipe import evaluate

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "models" / "bert-l6-h384-uncased"


@pytest.fixture(scope="module")
def card():
    return (FOLDER / "README.md").read_text("utf-8")


def test_transformers_reads_the_folder_whole_and_small(card):
    model, report = BertForPreTraining.from_pretrained(FOLDER, dtype=torch.float16, output_loading_info=True)
    assert not any(report.values())
    assert (FOLDER / "model.safetensors").stat().st_size < 50e6
    assert f"{sum(weights.numel() for weights in model.parameters()) / 1e6:.1f} million parameters" in card


def test_the_tables_of_our_own_blanks_and_pairs_are_what_the_model_says(bundled, tokenizer, card):
    filled, judged = (ask(bundled.module, tokenizer) for ask in (evaluate.fill_blanks, evaluate.judge_pairs))
    for kind, (count, first, five) in evaluate.by_kind(filled).items():
        assert f"| {kind} | {count} | {100 * first / count:.0f}% | {100 * five / count:.0f}% |" in card
    for row, guesses in filled:
        listed = re.search(rf"^\| {row['kind']} \| `{re.escape(row['sentence'])}` \| (\S+) (\d+)", card, re.MULTILINE)
        assert (listed is None) == any(sensible for *_, sensible in guesses), row["sentence"]
        if listed:
            assert listed[1] == guesses[0][0]
            assert int(listed[2]) == pytest.approx(100 * guesses[0][1], abs=1)
    right = [(follows > 0.5) == (row["label"] == "next") for row, follows in judged]
    assert f"Pairs: {sum(right)} of {len(right)} are judged right." in card
    for (row, _), good in zip(judged, right, strict=True):
        assert (f"| `{row['text']} / {row['text_b']}` |" in card) != good
