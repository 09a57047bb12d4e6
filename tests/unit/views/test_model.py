import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertForMaskedLM, BertModel

import explorer
from explorer.core.markdown import DRAWINGS, drawings
from explorer.guide.pages import pages
from explorer.model_card.architecture import Configuration, ModuleTree, Parameters, Summary
from explorer.model_card.drawing import stages
from explorer.model_card.origin import MOST_NAMED, PAPERS, Cost, OnPaper, Origin
from explorer.model_card.weights import Weights, histogram
from explorer.tabs import TABS
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import as_html
from explorer.ui.subject import Subject
from tests.families import KINDS, TUNED, write_family, write_tuned


def _cells(view, subject: Subject) -> list[list[str]]:
    return [row["cells"] for row in view.compute(subject)["table"]["rows"]]


def test_the_model_is_described(bundled, variant_folders):
    subject = Subject.of(bundled.trace("the man"))
    summary = Summary().compute(subject)["summary"]
    assert "**22,893,116** parameters" in summary
    assert "pre-training heads: masked LM and next sentence." in summary
    (bars,) = Parameters().compute(subject)["bars"].data
    assert sum(bars.x) == bundled.capabilities.parameters
    assert ["hidden_size", "384", "numbers in the vector of a token"] in _cells(Configuration(), subject)
    assert ModuleTree().compute(subject)["tree"].startswith("BertForPreTraining")
    headless = Subject.of(explorer.load(variant_folders["no_pooler"]).trace("the man"))
    assert "pre-training heads: none." in Summary().compute(headless)["summary"]


def test_the_sizes_of_bert_are_those_of_the_paper():
    large = {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
    for name, config in (("BERT-base", {}), ("BERT-large", large)):
        with torch.device("meta"):
            model = transformers.BertForPreTraining(transformers.BertConfig(**config))
        size = sum(weights.numel() for weights in model.parameters())
        assert f"{round(size / 1e7)}0 million" == next(row[4] for row in PAPERS if row[0] == name)


def test_multiplications_are_those_that_torch_counts(bundled, tmp_path):
    for model in (bundled, *(explorer.load(write_family(tmp_path / name, name)) for name in ("distilbert", "albert"))):
        trace = model.trace("the man went to the store")
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            hidden = trace.states[0][None].clone()
            for layer in model.layers:
                heads = layer.heads(hidden)  # counts q, k and v a first time
                context = heads.weights() @ heads.value
                hidden = layer.after_heads(context, hidden)
            again = sum(
                part.weight.numel()
                for layer in model.layers
                for path, part in layer.module.named_modules()
                if path.endswith(("query", "key", "value", "q_lin", "k_lin", "v_lin"))
            )
        expected = model.multiplications(trace.kept) + again
        assert counter.get_total_flops() == 2 * trace.kept * expected, model.name


def test_the_head_multiplies_with_every_word(bundled, tmp_path):
    for model in (bundled, *(explorer.load(write_family(tmp_path / name, name)) for name in ("distilbert", "albert", "roberta"))):
        states = model.trace("the man went to the store").states[-1]
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model.masked_lm(states)
        assert counter.get_total_flops() == 2 * len(states) * model.head_multiplications, model.name
    rows = _cells(Cost(), Subject.of(bundled.trace("the man went to the store")))
    assert [row[0] for row in rows if row[1].startswith("and ")] == ["… in the masked-LM head, a guess at every token"] * 2


def test_where_it_comes_from(bundled, variant_folders):
    subject = Subject.of(bundled.trace("the man"))
    rows = dict(_cells(Origin(), subject))
    assert rows["family"] == "bert"
    assert rows["came from"] == "bundled with BERT Explorer"
    assert rows["unused weights"] == "none"
    assert rows["code that came with it"] == "never run"
    assert OnPaper().compute(subject)["table"]["rows"][0]["cells"][:4] == ["this model", "6", "384", "12"]
    assert _cells(Cost(), subject)[0][1] == f"{4 * bundled.capabilities.parameters / 1e6:,.1f} MB"
    pickled = explorer.load(variant_folders["pickled"])
    assert "PyTorch" in dict(_cells(Origin(), Subject.of(pickled.trace("the man"))))["written in its file as"]


def test_weights_that_nothing_reads_are_told(make_tiny):
    folder = make_tiny()
    extra = [f"extra.{number}" for number in range(MOST_NAMED + 2)]
    tensors = load_file(folder / "model.safetensors") | {name: torch.zeros(3) for name in extra}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    model = explorer.load(folder)
    assert sorted(model.ignored) == extra
    told = dict(_cells(Origin(), Subject.of(model.trace("the man"))))["unused weights"]
    assert told == f"{', '.join(model.ignored[:MOST_NAMED])} and 2 more"


def test_the_drawing_has_all_parameters_and_its_boxes_lead_somewhere(bundled, tmp_path):
    choices = {tab.label: tab.choices for tab in TABS}
    models = [bundled, *(explorer.load(write_family(tmp_path / name, name)) for name in KINDS)]
    models += [explorer.load(write_tuned(tmp_path / f"{name}-tuned", name, TUNED[0])) for name in ("albert", "distilbert")]
    for model in models:
        blocks = [block for stage in stages(model) for block in stage.blocks]
        assert sum(block.parameters for block in blocks) == model.capabilities.parameters, model.name
        embeddings = next(block for block in blocks if block.name == "Embeddings")
        by_part = model.parameters_by_part()
        parts = ("embeddings", "encoder · embedding_hidden", "embeddings_project")
        assert embeddings.parameters == sum(count for part, count in by_part.items() if part.startswith(parts)), model.name
        for block in blocks:
            assert not block.tab or (block.choice or next(iter(choices[block.tab]))) in choices[block.tab], block


def test_weights_are_those_of_transformers(bundled, tmp_path):
    subject = Subject.of(bundled.trace("the man"))
    shown = Weights(cell=(2, 3)).compute(subject)
    (sizes,) = shown["sizes"].data
    theirs = bundled.module.bert.encoder.layer[3].attention.self.key.weight
    assert sizes.y[2] == "attention.self.key.weight"
    assert sizes.z[2][3] == pytest.approx(theirs.square().mean().sqrt().item(), rel=1e-5)
    assert "attention.self.key.weight, layer 4: 384 × 384 numbers" in shown["about"]
    (bars,) = shown["numbers"].data
    found = histogram(theirs.numpy())
    assert sum(bars.y) + found.beyond == theirs.numel()
    assert Weights.read({"cell": [True, "x"]}, bundled.capabilities).cell is None
    assert Weights(cell=(999, 999)).compute(subject)["numbers"] is not None
    shared = Subject.of(explorer.load(write_family(tmp_path / "albert", "albert")).trace("milk"))
    assert "every layer" in Weights(cell=(0, 2)).compute(shared)["about"]
    lacking = Subject.of(explorer.load(write_family(tmp_path / "modern", "modernbert")).trace("milk"))
    found = [Weights(cell=(row, 0)).compute(lacking)["about"] for row in range(6)]
    assert sum("has no such weight" in about for about in found) == 1  # its first layer has no norm before the attention


def test_the_gates_in_the_guide_are_those_of_an_lstm_of_pytorch():
    text = (DRAWINGS.parent / "networks.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w+) \| (.\S*) \| (.\S*) \| (.\S*) \| (.\S*) \| (.\S*) \| (.\S*) \|", text, re.MULTILINE)[1:]
    words = {"dog": (1, 0, -1), "barks": (0, 1, 0), "keys": (1, 0, 1), "the": (0, 0, 0), "man": (0, 0, -1), "left": (0, 0, 0)}
    words["are"] = (0, 1, 0)  # subject, verb, number
    assert [word for word, *_ in rows] == list(words)
    cell = torch.nn.LSTMCell(3, 1)
    for weights in cell.parameters():
        torch.nn.init.zeros_(weights)
    with torch.no_grad():  # the rows are the input gate, the forget gate, the value and the output gate
        cell.weight_ih[:] = torch.tensor([[12.0, 0, 0], [-12, 0, 0], [0, 0, 3], [0, 12, 0]])
        cell.bias_ih[:] = torch.tensor([-6.0, 6, 0, -6])
        out, state, before = torch.zeros(1, 1), torch.zeros(1, 1), {}
        for word, *told in rows:
            seen = torch.tensor([words[word]], dtype=torch.float32)
            gates = seen @ cell.weight_ih.T + cell.bias_ih
            admit, forget, show = (float(gates[0, row].sigmoid()) for row in (0, 1, 3))
            before[word] = told[3]
            out, state = cell(seen, (out, state))
            numbers = (forget, admit, float(gates[0, 2].tanh()), float(state), show, float(out))
            assert [float(one.replace("−", "-")) for one in told] == pytest.approx(numbers, abs=0.0051), word
    drawing = re.sub("<.+?>", " ", drawings()["gates.svg"])
    forget, admit, value, after, show, _ = next(told for word, *told in rows if word == "man")
    for shown in (before["the"], f"forget {forget}", f"input {admit}", f"value {value}", after, f"output {show}"):
        assert shown in drawing


@pytest.mark.parametrize("name", sorted(drawings()))
def test_a_drawing_is_shown_in_a_lesson_and_in_the_guide_with_its_text_and_in_the_colours_of_the_page(name):
    (step,) = [step for lesson in lessons() for step in lesson.steps if name in step.before + step.after]
    shown = as_html(step.before + step.after)
    assert re.search(r'<svg class="drawing" role="img" aria-label="[^"]{100,}" xmlns=', shown)
    assert drawings()[name].removeprefix("<svg") in shown
    assert drawings()[name].removeprefix("<svg") in pages()["networks"].html
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', shown)) == {"none", "currentColor", "var(--color-accent, currentColor)"}


def test_only_our_own_drawings_are_put_into_a_page():
    assert "<svg" not in as_html("![gates](https://example.org/other.svg)")
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in as_html('![a "b" \\<c>](gates.svg)')


def test_rows_of_the_embedding_tables_are_those_of_the_weights(bundled):
    rows = bundled.trace("milk").view("model/embedding-tables").tables["rows"]
    words = bundled.module.get_input_embeddings().weight.detach().numpy()
    shown = rows[rows["table"] == "word"]
    assert list(shown["row"]) == [0, 1, len(words) - 2, len(words) - 1]
    assert np.allclose(shown.iloc[:, 2:].to_numpy(float), words[list(shown["row"]), :10], atol=1e-6)


def test_what_the_guide_says_of_bert_base_and_of_the_bundled_model_is_so(bundled):
    with torch.device("meta"):
        sizes = [f"{kind(BertConfig()).num_parameters():,}" for kind in (BertModel, BertForMaskedLM)]
    guide = Path("assets/guide/models.md").read_text("utf-8")
    assert all(size in guide and size in OnPaper().compute(Subject.of(bundled.trace("milk")))["sources"] for size in sizes)
    printed = re.findall(r"^\| (The .*\[MASK\]\.) \| [^|]+ \| ([^|]+) \|$", guide, re.MULTILINE)
    assert len(printed) == 2
    for text, guesses in printed:
        trace = bundled.trace(text)
        (found,) = bundled.guesses(trace.states[-1][trace.mask_positions], trace.mask_positions, 3)
        assert guesses == ", ".join(f"{one.token} {one.probability:.1%}" for one in found.candidates)
