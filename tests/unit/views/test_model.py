import pytest
import torch

import explorer
from explorer.model_card.architecture import Configuration, ModuleTree, Parameters, Summary
from explorer.model_card.compute.lstm import reading
from explorer.model_card.other import EncoderDecoder, Gates, LongWay, Transfer
from explorer.model_card.tab import TAB
from explorer.ui.pictures.stepped import Arrow, Box, Step, stepped
from explorer.ui.subject import Selection, Subject


def test_every_part_that_is_computed_is_declared(tiny):
    for view in TAB.views:
        declared = {name for name, part in view.parts.items() if part.kind not in ("heading", "caption", "note")}
        assert set(view().compute(Subject.of(tiny.trace("the man")))) == declared, view.name


def test_the_model_is_described(bundled):
    subject = Subject.of(bundled.trace("the man"))
    summary = Summary().compute(subject)["summary"]
    assert "**22,893,116** parameters" in summary
    assert "pre-training heads: masked LM and next sentence." in summary
    (bars,) = Parameters().compute(subject)["bars"].data
    assert sum(bars.x) == bundled.capabilities.parameters
    assert ["hidden_size", "384", "numbers in the vector of a token"] in Configuration().compute(subject)["table"]
    assert ModuleTree().compute(subject)["tree"].startswith("BertForPreTraining")


def test_a_model_without_heads_says_so(variant_folders):
    subject = Subject.of(explorer.load(variant_folders["no_pooler"]).trace("the man"))
    assert "pre-training heads: none." in Summary().compute(subject)["summary"]


def test_parameters_are_those_of_the_file(variant_folders, tmp_path):
    import transformers

    from tests.families import TUNED, write_tuned

    kinds = {"masked_lm_only": "BertForMaskedLM", "encoder_only": "BertModel", "classifier": "BertForSequenceClassification"}
    for variant, kind in kinds.items():
        module = getattr(transformers, kind).from_pretrained(variant_folders[variant])
        model = explorer.load(variant_folders[variant])
        assert model.capabilities.parameters == sum(weight.numel() for weight in module.parameters()), variant
        assert sum(model.parameters_by_part().values()) == model.capabilities.parameters
    for name, kind in {"distilbert": "DistilBert", "albert": "Albert"}.items():
        folder = write_tuned(tmp_path / name, name, TUNED[0])
        module = getattr(transformers, f"{kind}{TUNED[0]}").from_pretrained(folder)
        assert explorer.load(folder).capabilities.parameters == sum(weight.numel() for weight in module.parameters()), name


def test_bert_base_has_as_many_as_the_architecture_says():
    import torch
    import transformers

    with torch.device("meta"):
        whole, masked = (
            kind(transformers.BertConfig()) for kind in (transformers.BertForPreTraining, transformers.BertForMaskedLM)
        )
    hidden, inner, pieces = 768, 3072, 30522
    layer = 4 * (hidden + 1) * hidden + (hidden + 1) * inner + (inner + 1) * hidden + 4 * hidden
    tables, head = (pieces + 512 + 2) * hidden + 2 * hidden, (hidden + 1) * hidden + 2 * hidden + pieces
    assert tables + 12 * layer + head == sum(weight.numel() for weight in masked.parameters()) == 109_514_298
    pair = (hidden + 1) * hidden + 2 * (hidden + 1)
    assert 109_514_298 + pair == sum(weight.numel() for weight in whole.parameters()) == 110_106_428


def test_multiplications_are_those_that_torch_counts(bundled, tmp_path):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from tests.families import write_family

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
                if path.endswith(model.family.projections)
            )
        expected = model.multiplications(trace.kept) + again
        assert counter.get_total_flops() == 2 * trace.kept * expected, model.name


def test_the_head_multiplies_with_every_word(bundled, tmp_path):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from explorer.model_card.origin import Cost
    from tests.families import write_family

    for model in (bundled, *(explorer.load(write_family(tmp_path / name, name)) for name in ("distilbert", "albert", "roberta"))):
        states = model.trace("the man went to the store").states[-1]
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model.masked_lm(states)
        assert counter.get_total_flops() == 2 * len(states) * model.head_multiplications, model.name
    rows = Cost().compute(Subject.of(bundled.trace("the man went to the store")))["table"]
    assert [row[0] for row in rows if row[1].startswith("and ")] == ["… in the masked-LM head, a guess at every token"] * 2


def test_where_it_comes_from(bundled, variant_folders):
    from explorer.model_card.origin import Cost, OnPaper, Origin

    subject = Subject.of(bundled.trace("the man"))
    rows = dict(Origin().compute(subject)["table"])
    assert rows["family"] == "bert"
    assert rows["came from"] == "bundled with BERT Explorer"
    assert rows["weights that nothing here reads"] == "none"
    assert rows["code that came with it"] == "never run"
    assert OnPaper().compute(subject)["table"]["rows"][0]["cells"][:4] == ["this model", "6", "384", "12"]
    assert Cost().compute(subject)["table"][0][1] == f"{4 * bundled.capabilities.parameters / 1e6:,.1f} MB"
    pickled = explorer.load(variant_folders["pickled"])
    assert "PyTorch" in dict(Origin().compute(Subject.of(pickled.trace("the man")))["table"])["written in its file as"]


def test_weights_that_nothing_reads_are_told(make_tiny):
    import torch
    from safetensors.torch import load_file, save_file

    from explorer.model_card.origin import Origin

    folder = make_tiny()
    tensors = load_file(folder / "model.safetensors") | {"extra.weight": torch.zeros(3)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    model = explorer.load(folder)
    assert model.ignored == ("extra.weight",)
    assert (
        dict(Origin().compute(Subject.of(model.trace("the man")))["table"])["weights that nothing here reads"] == "extra.weight"
    )


def test_every_size_of_every_family_is_explained():
    from explorer.bert.plausible import MOST
    from explorer.model_card.meanings import MEANINGS

    assert MOST.keys() <= MEANINGS.keys() | {"true_hidden_size"}  # which transformers derives


def test_the_drawing_has_all_parameters_and_its_boxes_lead_somewhere(bundled, tmp_path):
    from explorer.model_card.drawing import stages
    from explorer.tabs import TABS
    from tests.families import KINDS, TUNED, write_family, write_tuned

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


def test_the_sizes_of_the_drawing_are_the_models(bundled, tmp_path):
    from explorer.model_card.drawing import stages
    from tests.families import write_family

    sizes = [block.size for stage in stages(bundled) for block in stage.blocks]
    assert sizes[1:4] == ["30,522 pieces + 512 positions + 2 segments × 384", "12 heads × 32", "384 → 1536 → 384, GELU"]
    modern = stages(explorer.load(write_family(tmp_path / "modern", "modernbert")))
    assert modern[2].blocks[1].size == "16 → 2 × 32 → 16, GELU"
    assert modern[2].between == "+ what came in"


def test_weights_are_those_of_transformers(bundled, tmp_path):
    from explorer.model_card.compute.weights import histogram
    from explorer.model_card.weights import Weights
    from tests.families import write_family

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
    assert sum("it has no such weight" in about for about in found) == 1  # its first layer has no norm before the attention


def test_every_step_of_a_drawing_is_about_something_in_it(bundled):
    subject = Subject.of(bundled.trace("The keys of the man were gone."))
    for view in (EncoderDecoder(), LongWay(), Gates(), Transfer()):
        drawn = view.compute(subject)["drawing"]
        boxes, arrows = ({one["id"] for one in drawn[kind]} for kind in ("boxes", "arrows"))
        assert len(boxes) + len(arrows) == len(drawn["boxes"]) + len(drawn["arrows"]), "an id names one thing"
        ever = {name for step in drawn["steps"] for name in step["lit"]}
        assert ever <= boxes | arrows
        assert arrows - ever == set() or view.name == "model/long-way"
        for box in drawn["boxes"]:
            assert 0 <= box["x"] <= box["x"] + box["width"] <= drawn["width"]
            assert 0 <= box["y"] <= box["y"] + box["height"] <= drawn["height"]
    with pytest.raises(ValueError, match="there is no 'c' in the drawing"):
        stepped((10, 10), [Box("a", 0, 0, 1, 1)], [Arrow("b", (0, 0), (1, 1))], [Step("", ["a", "b", "c"])], "")


def test_what_is_taken_over_has_the_numbers_of_the_model(bundled, tiny):
    for model in (bundled, tiny):
        drawn, module = Transfer().compute(Subject.of(model.trace("Hi.")))["drawing"], model.module
        told = " ".join(step["text"] for step in drawn["steps"])
        new = sum(one.numel() for one in torch.nn.Linear(module.config.hidden_size, 2).parameters())
        assert f" {new:,} numbers; the {sum(one.numel() for one in module.parameters()) / 1e6:.1f} million" in told
        assert f"one of {module.config.vocab_size:,} pieces" in told


def test_a_translation_is_written_word_by_word(bundled):
    drawn = EncoderDecoder().compute(Subject.of(bundled.trace("Hi.")))["drawing"]
    labels, written = {}, []
    for step in drawn["steps"]:
        labels |= step["labels"]
        written.append([labels[f"written.{number}"] for number in range(4)] + [labels["next"]])
    assert written[-5] == ["‹start›", "", "", "", ""]
    assert written[-4:] == [
        ["‹start›", "", "", "", "Die"],
        ["‹start›", "Die", "", "", "Katze"],
        ["‹start›", "Die", "Katze", "", "schläft"],
        ["‹start›", "Die", "Katze", "schläft", "‹end›"],
    ]


def test_the_gates_are_those_of_an_lstm_of_pytorch_with_these_weights(bundled):
    moments, cell = reading(), torch.nn.LSTMCell(3, 1).double()
    with torch.no_grad():
        for one in cell.parameters():
            one.zero_()
        # The rows are the input gate, the forget gate, the value and the output gate; the columns subject, verb and number.
        cell.weight_ih[:] = torch.tensor([[12.0, 0, 0], [-12, 0, 0], [0, 0, 3], [0, 12, 0]])
        cell.bias_ih[:] = torch.tensor([-6.0, 6, 0, -6])
        state = torch.zeros(1, 1).double(), torch.zeros(1, 1).double()
        for one in moments:
            seen = torch.tensor([[one.word.subject, one.word.verb, one.word.number]]).double()
            state = cell(seen, state)
            assert [one.output, one.state] == pytest.approx([part.item() for part in state])
    drawn = Gates().compute(Subject.of(bundled.trace("Hi.")))["drawing"]
    told = {
        one.word.text: next(step["text"] for step in drawn["steps"] if f"“{one.word.text}”" in step["text"]) for one in moments
    }
    assert "the verb must be singular" in told["barks"]
    assert "the verb must be plural" in told["are"]
    assert f"keeps what was there, +{moments[4].state:.2f}" in told["man"]


@pytest.mark.parametrize(("start", "end", "steps"), [(2, 6, 4), (6, 2, 4), (2, 2, 1), (99, None, 6), (1, 8, 7)])
def test_a_recurrent_network_takes_as_many_steps_as_words_lie_between(bundled, start, end, steps):
    trace = bundled.trace("The keys of the man were gone.")  # 8 pieces, the seventh is “gone”
    view, subject = LongWay(start=start), Subject.of(trace, Selection(token=end))
    drawn = view.compute(subject)["drawing"]
    walked = [step for step in drawn["steps"] if not step["title"]]
    assert len(walked) == steps
    states = [sum(name.startswith("state.") for name in step["lit"]) for step in drawn["steps"][: steps + 1]]
    assert states == list(range(1, steps + 2)), "one more state at each step"
    assert f"it is {steps} step" in view.finding(subject).text
    backwards = "must read from the right" in drawn["steps"][0]["text"]
    assert backwards == (end is not None and start > end)
    assert view.on_drawing(subject, 3).settings == {"start": 3}


def test_of_a_long_text_the_words_up_to_the_chosen_one_are_drawn(bundled):
    trace = bundled.trace("one two three four five six seven eight nine ten " * 4)
    assert LongWay().unless(Subject.of(bundled.trace("Hi"))).startswith("A way leads from one word to another")
    for token, first in [(None, 1), (30, 11), (5, 1)]:
        drawn = LongWay().compute(Subject.of(trace, Selection(token=token)))["drawing"]
        picks = [box["pick"] for box in drawn["boxes"] if box["id"].startswith("word.")]
        assert picks == list(range(first, first + 20))
