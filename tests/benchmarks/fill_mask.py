"""Fill-mask and the effect of every head, beside the plain way, on a model of BERT-base's size with random weights."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import transformers

import explorer
from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer
from explorer.core.steps import finished
from explorer.techniques.ablation import vectors_without_heads
from explorer.techniques.targets import read_each, word_target
from tests.benchmarks import Comparison, side_by_side

OTHERS = [f"{tens}{ones}" for tens in (1, 2) for ones in range(10)]
SENTENCE = "The man went to the [MASK] to buy some milk and bread for the evening. "


def head_effects_run() -> Iterator[Comparison]:
    """The effect of each head at 40 tokens: restarts in batches against one full forward pass a head."""
    model = base_sized()
    trace = model.trace(text_of(model, 40))
    target = word_target(trace)
    found, slow = [], []

    def ours_uncached() -> None:
        vectors = finished(vectors_without_heads(trace, target.position))
        found.append(target.measured(read_each(model, target, vectors)).numpy())

    ours, theirs = side_by_side(ours_uncached, lambda: slow.append(one_pass_a_head(model, trace, target)), rounds=3)
    wanted = f"ratio at most 0.25; largest difference of a probability {np.abs(found[0] - slow[0]).max():.1e}, at most 1e-5"
    yield Comparison("head-effects", "restart, in batches", "a full pass a head", ours, theirs, "s", wanted)


def fill_mask_run() -> Iterator[Comparison]:
    """One answer for 128 tokens with its blanks: ours, nothing cached, against the pipeline of transformers."""
    model = base_sized()
    text, words = text_of(model, 128), iter(OTHERS)
    folder = checkpoints.find(model.name).folder
    module = transformers.BertForMaskedLM.from_pretrained(folder, local_files_only=True).eval()
    pipeline = transformers.pipeline("fill-mask", model=module, tokenizer=model.tokenizer, device="cpu")

    def ours() -> None:
        model.fill_mask(text.replace("man", next(words), 1), top_k=5)  # a text that was never seen, so never cached

    taken, theirs = side_by_side(ours, lambda: pipeline(text, top_k=5), rounds=15)
    yield Comparison("fill-mask", "fill_mask", 'pipeline("fill-mask")', taken, theirs, "s", "ratio at most 1 at 128 tokens")


@torch.no_grad()
def one_pass_a_head(model: Explorer, trace: explorer.Trace, target: object) -> np.ndarray:
    """[layers, heads] probabilities of the target, with a hook that zeroes one head in a full pass of its own."""
    capabilities = model.capabilities
    size = capabilities.hidden_size // capabilities.heads
    found = np.empty((capabilities.layers, capabilities.heads), dtype=np.float32)
    ids = torch.tensor([trace.ids])
    for layer in range(capabilities.layers):
        dense = model.layers[layer].module.attention.output.dense
        for head in range(capabilities.heads):

            def zero(_: torch.nn.Module, inputs: tuple[torch.Tensor], head: int = head) -> tuple[torch.Tensor]:
                context = inputs[0].clone()
                context[..., head * size : (head + 1) * size] = 0
                return (context,)

            hook = dense.register_forward_pre_hook(zero)
            try:
                hidden = model.encoder(input_ids=ids).last_hidden_state
                logits = model.masked_lm(hidden[:, target.position])
            finally:
                hook.remove()
            found[layer, head] = logits.softmax(-1)[0, target.id]
    return found


def text_of(model: Explorer, tokens: int) -> str:
    """English with a [MASK] in its first sentence, of exactly so many tokens with [CLS] and [SEP]."""
    words = ["milk"] * (tokens - 2)
    sentence = (SENTENCE * (tokens // 8)).split()
    for count in range(len(sentence), 0, -1):
        length = len(model.tokenizer.tokenize(" ".join(sentence[:count])))
        if length <= tokens - 2:
            return " ".join([*sentence[:count], *words[: tokens - 2 - length]])
    raise ValueError(f"{tokens} tokens are too few")


def base_sized() -> Explorer:
    """BERT-base's shape with random weights and the bundled model's tokenizer, kept for the whole run."""
    if not _made:
        folder = Path(tempfile.mkdtemp(prefix="bert-base-sized-"))
        torch.manual_seed(0)
        transformers.utils.logging.disable_progress_bar()
        transformers.BertForPreTraining(transformers.BertConfig(vocab_size=30_522)).save_pretrained(folder)
        explorer.load().tokenizer.save_pretrained(folder)
        _made.append(Explorer(checkpoints.find(folder)))
    return _made[0]


_made: list[Explorer] = []
