import gc
import time
import weakref

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.bert import checkpoints
from explorer.bert import explorer as model_module
from explorer.bert.explorer import Explorer
from explorer.bert.features import features
from explorer.core import limits
from explorer.core.errors import CapabilityError, InputError
from explorer.core.limits import MODELS
from tests.families import edit
from tests.hooks import fingerprint, hooks_of
from tests.waiting import at_once

TEXTS = ["The man went to the store.", "She was happy!", "A slow [MASK] bought milk", "the " * 200, "$5 - (it was)"]


@pytest.fixture
def passes(monkeypatch):
    """Counts the forward passes of all models, and makes each take long enough to be asked for meanwhile."""
    ran, run = [], Explorer.hidden_states_of

    def counted(self, encodings):
        ran.extend((encoding.text_a, encoding.text_b) for encoding in encodings)
        time.sleep(0.05)
        return run(self, encodings)

    monkeypatch.setattr(Explorer, "hidden_states_of", counted)
    return ran


def fresh(model):
    """The same checkpoint, read again: nothing is cached."""
    return Explorer(checkpoints.find(model.name))


@pytest.mark.parametrize(
    ("text_a", "text_b"),
    [
        ("The man went to the [MASK].", ""),
        ("[MASK]", ""),
        ("[MASK] [MASK] went to the [MASK] store", "he [MASK] milk"),
        ("[MASK] dog " + "the " * 400, "milk " * 400 + "[MASK]"),
        ("the man " * 200, "[MASK]" + " milk" * 400),
    ],
    ids=["one", "only a mask", "several", "cut", "512 tokens"],
)
def test_fill_mask_equals_the_softmax_of_transformers(model, eager, text_a, text_b):
    encoded, outputs = eager(model, text_a, text_b)
    blanks = model.fill_mask(text_a, text_b, top_k=100)
    positions = (encoded["input_ids"][0] == model.tokenizer.mask_token_id).nonzero().flatten().tolist()
    assert [blank.position for blank in blanks] == positions
    assert positions
    for blank in blanks:
        logits = outputs.prediction_logits[0, blank.position]
        ids = [candidate.id for candidate in blank.candidates]
        assert ids == logits.topk(100).indices.tolist()
        found = [(candidate.probability, candidate.logit) for candidate in blank.candidates]
        theirs = torch.stack([logits.softmax(-1)[ids], logits[ids]], dim=-1).numpy()
        np.testing.assert_allclose(found, theirs, atol=1e-5, rtol=1e-5)
        assert [candidate.token for candidate in blank.candidates] == model.tokenizer.convert_ids_to_tokens(ids)


def test_next_sentence_equals_the_softmax_of_transformers(model, eager):
    pairs = [("The man went to the store.", "He bought milk."), ("it was", "the " * 600), ("a", "a")]
    for text_a, text_b in pairs:
        _, outputs = eager(model, text_a, text_b)
        theirs = outputs.seq_relationship_logits[0]
        verdict = model.next_sentence(text_a, text_b)
        np.testing.assert_allclose((verdict.is_next, verdict.not_next), theirs.softmax(-1), atol=1e-5, rtol=0)
        np.testing.assert_allclose(verdict.logits, theirs, atol=1e-4, rtol=0)
        assert verdict.is_next + verdict.not_next == pytest.approx(1, abs=1e-6)


def test_a_blank_that_is_not_there_or_was_cut_off_is_told(model, refusal):
    assert "no [MASK]" in refusal(InputError, lambda: model.fill_mask("the man [mask] went"))
    assert "512 tokens" in refusal(InputError, lambda: model.fill_mask("the " * 600 + "[MASK]"))
    assert "no [MASK]" in refusal(InputError, lambda: model.fill_mask("the " * 600, None))


def test_more_guesses_than_pieces_are_all_of_them(make_tiny):
    model = explorer.load(make_tiny(vocab_size=114))  # six more rows than the tokenizer has pieces, as padding
    assert len(model.tokenizer) == 108
    (blank,) = model.fill_mask("the [MASK]", top_k=100)
    pieces = {candidate.id: candidate.token for candidate in blank.candidates}
    assert any(id >= 108 for id in pieces)
    assert all(token == f"[{id}]" for id, token in pieces.items() if id >= 108)
    assert all(isinstance(token, str) for token in pieces.values())


def test_equal_requests_give_the_same_trace_and_one_pass(model, passes):
    model = fresh(model)
    trace = model.trace("the man [MASK]", "he went")
    assert model.trace("the man [MASK]", "he went").reading is trace.reading
    model.fill_mask("the man [MASK]", "he went")
    model.next_sentence("the man [MASK]", "he went")
    assert passes == [("the man [MASK]", "he went")]
    assert model.trace("the man [MASK]").reading is not trace.reading
    assert model.trace("the man [MASK]", "  ").reading is model.trace("the man [MASK]", None).reading
    assert len(passes) == 2


def test_traces_are_forgotten_by_their_size(tiny, monkeypatch, passes):
    one = tiny.trace("the man went").reading.nbytes
    monkeypatch.setattr(limits, "MEGABYTE", 3.5 * one)
    monkeypatch.setattr(limits.CACHE_MEGABYTES, "most", 1)
    model = fresh(tiny)
    for word in ("dog", "cat", "milk", "store"):
        model.trace(f"the {word} went")
    passes.clear()
    model.trace("the store went")
    model.trace("the cat went")
    assert passes == []
    model.trace("the dog went")  # the oldest of four, so it had to leave
    assert len(passes) == 1
    model.trace("the " * 600)  # larger than everything allowed: kept, alone
    assert [trace.encoding.text_a for trace in model._readings.values()] == ["the " * 600]


def everything(model, text):
    trace = model.trace(text, "he went")
    parts = [trace.hidden_states, *(trace.attention(layer) for layer in range(model.capabilities.layers))]
    parts.append(np.array([candidate.logit for candidate in model.fill_mask(f"[MASK] {text}")[0].candidates]))
    parts.append(np.array(model.next_sentence(text, "it was").logits))
    return parts


def test_no_request_changes_what_another_gets(model, monkeypatch):
    monkeypatch.setattr(limits, "MEGABYTE", 0)  # everything is computed again and again
    model = fresh(model)
    before, hooks = fingerprint(model), hooks_of(model)
    alone = [everything(model, text) for text in TEXTS]
    refused = [lambda: model.trace(""), lambda: model.fill_mask("no mask"), lambda: model.next_sentence("a", "")]

    def visitor(i):
        with pytest.raises(InputError):
            refused[i % 3]()
        order = [TEXTS[(i + turn) % 5] for turn in range(3)]
        return {text: everything(model, text) for text in order}

    for found in at_once(8, visitor):
        for text, parts in found.items():
            for part, expected in zip(parts, alone[TEXTS.index(text)], strict=True):
                # Another thread may sum in another order: torch's number of threads is a setting of each thread.
                np.testing.assert_allclose(part, expected, atol=1e-5)

    assert fingerprint(model) == before
    assert not any(module.training for module in model.module.modules())
    assert not any(parameter.requires_grad or parameter.grad is not None for parameter in model.module.parameters())
    assert hooks_of(model) == hooks


def test_threads_do_not_cut_each_others_texts(tiny):
    short, long = "the man went", "milk " * 2000

    def encode(i):
        for turn in range(20):
            if (i + turn) % 2:
                encoding = tiny.encode(long)
                assert (encoding.kept, encoding.total) == (512, 2002)
            else:
                encoding = tiny.encode(short)
                assert (encoding.kept, encoding.total) == (5, 5)
        return True

    assert all(at_once(8, encode))


def test_models_are_read_one_at_a_time(tiny_folder, variant_folders, monkeypatch):
    """transformers swaps functions of its own while it reads a model: two at once leave every later model untied."""
    reading, most = [], []
    original = transformers.BertForPreTraining.from_pretrained

    def slow(*args, **kwargs):
        reading.append(1)
        most.append(len(reading))
        time.sleep(0.05)
        try:
            return original(*args, **kwargs)
        finally:
            reading.pop()

    monkeypatch.setattr(transformers.BertForPreTraining, "from_pretrained", slow)
    tie = transformers.PreTrainedModel.tie_weights
    folders = [tiny_folder, *(variant_folders[name] for name in ("encoder_only", "old_names", "pickled"))]
    models = at_once(4, lambda i: Explorer(checkpoints.find(folders[i])))
    assert most == [1, 1, 1, 1]
    assert transformers.PreTrainedModel.tie_weights is tie
    assert [model.capabilities.fill_mask for model in models] == [True, False, True, True]


def test_a_model_is_read_once_and_again_when_its_folder_changes(make_tiny):
    folder = make_tiny()
    models = at_once(4, lambda i: explorer.load(str(folder)))
    assert all(model is models[0] for model in models)
    assert explorer.load(folder) is models[0]
    assert models[0] in model_module.list_loaded()
    time.sleep(0.02)
    (folder / "config.json").write_text((folder / "config.json").read_text())
    assert explorer.load(folder) is not models[0]


def test_a_model_that_nobody_uses_is_gone_without_a_garbage_collection(make_tiny):
    model = explorer.load(make_tiny())
    trace = model.trace("the man [MASK]")
    trace.once("sum", trace.attention(0).sum)
    model.fill_mask("the man [MASK]")
    features(model, ["the man", "the dog"])
    left = weakref.ref(model)
    gc.collect()
    gc.disable()
    try:
        del model, trace
        others = [explorer.load(make_tiny()) for _ in range(MODELS.most)]
        assert left() is None, gc.get_referrers(left())
    finally:
        gc.enable()
    assert others


CAN = {  # masked words, next sentence, segments, pooler
    "encoder_only": (False, False, True, True),
    "no_pooler": (False, False, True, False),
    "masked_lm_only": (True, False, True, False),
    "old_names": (True, True, True, True),
    "pickled": (True, True, True, True),
    "one_segment": (True, True, False, True),
    "classifier": (False, False, True, True),
}


@pytest.mark.parametrize("variant", CAN)
def test_what_a_checkpoint_can_do_is_found_out(variant, variant_folders, tiny, eager, refusal):
    model = explorer.load(variant_folders[variant])
    capabilities = model.capabilities
    assert (capabilities.fill_mask, capabilities.next_sentence, capabilities.segments, capabilities.pooler) == CAN[variant]
    assert (capabilities.layers, capabilities.heads, capabilities.vocab_size, capabilities.max_tokens) == (2, 2, 108, 512)
    _, outputs = eager(model, "the man [MASK]", "he went")
    trace = model.trace("the man [MASK]", "he went")
    np.testing.assert_allclose(trace.hidden_states[-1], outputs.hidden_states[-1][0], atol=1e-5, rtol=0)
    if variant != "one_segment":
        theirs = tiny.trace("the man [MASK]", "he went").hidden_states
        np.testing.assert_allclose(trace.hidden_states, theirs, atol=1e-5, rtol=0)
    requests = {
        "fill_mask": lambda model: [guess.logit for guess in model.fill_mask("the man [MASK]")[0].candidates],
        "next_sentence": lambda model: model.next_sentence("the man [MASK]", "he went").logits,
        "pooler": lambda model: model.pooler(model.trace("the man").states[-1:]),
    }
    for capability, request in requests.items():
        if not getattr(capabilities, capability):
            said = refusal(CapabilityError, lambda request=request: request(model), typed=model.name)
            assert said.startswith(model.name)
        elif variant != "one_segment":
            np.testing.assert_allclose(request(model), request(tiny), atol=1e-5, rtol=0)


def test_every_weight_is_counted_once(model):
    parts = model.parameters_by_part()
    assert sum(parts.values()) == model.capabilities.parameters
    assert model.capabilities.parameters == model.module.num_parameters()
    layers = {part.split(" · ")[0] for part in parts if part.startswith("layer ")}
    assert layers == {f"layer {layer}" for layer in range(1, model.capabilities.layers + 1)}
    assert parts["embeddings · word_embeddings"] == model.capabilities.vocab_size * model.capabilities.hidden_size
    hidden = model.capabilities.hidden_size
    assert parts["layer 1 · attention"] == 4 * (hidden * hidden + hidden) + 2 * hidden
    assert parts["pooler"] == hidden * hidden + hidden


def test_segments_are_those_that_the_tokenizer_gives(make_tiny):
    folder = make_tiny()
    edit(folder, "tokenizer_config.json", model_input_names=["input_ids", "attention_mask"])
    model = explorer.load(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer("the man went", "he was happy", return_tensors="pt")
    assert "token_type_ids" not in encoded
    theirs = transformers.BertModel.from_pretrained(folder)(**encoded, output_hidden_states=True).hidden_states
    trace = model.trace("the man went", "he was happy")
    assert set(trace.encoding.segments) == {0}
    for ours, state in zip(trace.hidden_states, theirs, strict=True):
        np.testing.assert_allclose(ours, state[0].detach(), atol=1e-5)
