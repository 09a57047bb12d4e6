"""Every head switched off in 1,000 items, beside a loop of full passes; and the memory that more items take."""

import itertools
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import torch

import explorer
from explorer.bert.explorer import Explorer
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.question import ReadItem
from explorer.experiments.compute.questions import question_of
from explorer.experiments.compute.reading import in_order, measured, read_items_as
from tests.benchmarks import Comparison

ITEMS, SAMPLE = 1_000, 25  # of which the loop reads so many, spread over all lengths; its time is taken 40 times
NOUNS = ("key", "picture", "letter", "window", "teacher", "book", "car", "house", "boy", "road")
OTHERS = ("cabinet", "boat", "friend", "tree", "shop", "planet", "village", "dog", "room", "field")
ENDS = ("old.", "very old now.", "on the table.", "near the house again.", "not what they wanted to see that day.")
PEAK = """
import resource, sys
import numpy as np
from tests.benchmarks.experiment import items
import explorer
from explorer.experiments.compute.questions import question_of
from explorer.experiments.compute.reading import measured, read_items_as
asked = question_of(explorer.load(), "heads_off")
rows = [rows for _, rows in measured(asked, read_items_as(asked, items(int(sys.argv[1])))[0])]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def items(count: int) -> tuple[Item, ...]:
    """Agreement items of several lengths, all different, as many of each number."""
    many = itertools.product(NOUNS, OTHERS, ENDS, (("", "s", "is", "are"), ("s", "", "are", "is")))
    made = [
        Item(f"The {noun}{own} of the {other}{its} [MASK] {end}", "", word, foil)
        for noun, other, end, (own, its, word, foil) in many
    ]
    return tuple((made * (count // len(made) + 1))[:count])


def run() -> Iterator[Comparison]:
    """Time, the largest difference, and memory."""
    model, asked = explorer.load(), items(ITEMS)
    question = question_of(model, "heads_off")
    read, _ = read_items_as(question, asked)
    drawn = np.array(in_order(read))[:: ITEMS // SAMPLE]
    start = time.perf_counter()
    found = [rows for _, rows in measured(question, read)]
    ours = time.perf_counter() - start
    start = time.perf_counter()
    slow = np.stack([one_pass_a_head(model, read[number]) for number in drawn])
    theirs = (time.perf_counter() - start) * ITEMS / SAMPLE
    has = model.capabilities
    changes = np.concatenate(found)[:: ITEMS // SAMPLE, 4:].reshape(-1, has.layers, has.heads)
    most = f"ratio at most 0.15; largest difference of a logit difference {np.abs(changes - slow).max():.0e}, at most 1e-4"
    yield Comparison(
        "experiment", f"{ITEMS:,} items × {has.layers * has.heads} heads", "a full pass for each", ours, theirs, "s", most
    )
    few, many = (peak(count) for count in (ITEMS // 4, ITEMS))
    yield Comparison(
        "experiment-memory", f"peak with {ITEMS:,} items", f"with {ITEMS // 4}", many, few, "MB", "ratio at most 1.1"
    )


def peak(count: int) -> float:
    """The peak of a process of its own, in MB."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(count)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


@torch.no_grad()
def one_pass_a_head(model: Explorer, item: ReadItem) -> np.ndarray:
    """[layers, heads]: the change of the logit difference, with a hook that zeroes one head in a full pass of its own."""
    has, module = model.capabilities, model.module
    size = has.hidden_size // has.heads
    ids, segments = torch.tensor([item.ids]), torch.tensor([item.segments])

    def difference() -> float:
        logits = module(input_ids=ids, token_type_ids=segments).prediction_logits[0, item.place]
        return float(logits[item.word] - logits[item.foil])

    before, found = difference(), np.empty((has.layers, has.heads), dtype=np.float32)
    for layer, head in itertools.product(range(has.layers), range(has.heads)):

        def zero(_: torch.nn.Module, given: tuple, head: int = head) -> tuple:
            context = given[0].clone()
            context[..., head * size : (head + 1) * size] = 0
            return (context,)

        hook = model.layers[layer].attention_dense.register_forward_pre_hook(zero)
        found[layer, head] = difference() - before
        hook.remove()
    return found
