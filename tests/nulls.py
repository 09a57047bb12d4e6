"""Ask every question of an experiment of a model that knows nothing: `python -m tests.nulls [QUESTION ...] [--runs N]`.

The weights of the bundled model are permuted within each tensor, anew for each run. The items are sentences of our suites in
which a marked word, its counterpart, and word and foil for the blank are drawn at random, so that no place has a reason to favour
the word. About one place in twenty should have p below 0.05, and one run in twenty any q below 0.05.
"""

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

import explorer
from explorer.bert.checkpoints import BUNDLED_FOLDER, TOKENIZER_FILES
from explorer.bert.explorer import Explorer
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.minimal_pairs import suite_items
from explorer.experiments.compute.patching import HEADS_OF, MLP, RESIDUAL
from explorer.text.encoding import MASK

ASKED = {
    "heads_off": ("zero",),
    "patching": (RESIDUAL, HEADS_OF, MLP),
    "path": ("query", "value"),
    "erase": ("number",),
    "direction": ("number",),
    "cut": ("forward",),
    "lens": ("raw",),
    "attention": ("forward", "backward"),
    "routes": ("mixing",),
    "attribution": ("foil", "word"),
    "likelihood": ("word_l2r",),
}
"""The questions, and their ways that need nothing that is fitted to a model."""
CLASSES = ("is", "are")  # word and foil of questions about a concept, in an order drawn at random
SUITES = ("agreement", "pronouns", "negation", "prepositions", "facts")
ITEMS, RUNS = 60, 10
WORD = re.compile(r"[A-Za-z]+")


def permuted(folder: Path, seed: int = 0) -> Explorer:
    """The bundled model with the numbers of each of its tensors in an order drawn at random."""
    random = np.random.default_rng(seed)
    weights = load_file(BUNDLED_FOLDER / "model.safetensors")
    mixed = {name: random.permutation(tensor.ravel()).reshape(tensor.shape) for name, tensor in weights.items()}
    save_file(mixed, folder / "model.safetensors", {"format": "pt"})
    for name in ("config.json", *TOKENIZER_FILES):
        if (BUNDLED_FOLDER / name).is_file():
            shutil.copy(BUNDLED_FOLDER / name, folder)
    return explorer.load(str(folder))


def random_items(model: Explorer, seed: int, question: str, count: int = ITEMS) -> list[Item]:
    """Sentences of our suites whose marks, words and foils are drawn at random; of a concept, which of its words is the foil."""
    random = np.random.default_rng(seed)
    texts = list(dict.fromkeys(item.text_a for suite in SUITES for item in suite_items(suite)))
    words = sorted({word for text in texts for word in WORD.findall(text.lower())} & model.tokenizer.get_vocab().keys())
    words.remove("mask")
    items = [_random_item(str(text), words, random) for text in random.choice(texts, count, replace=False)]
    if question not in ("erase", "direction"):
        return items
    return [Item(item.text_a, "", *random.permutation(CLASSES).tolist()) for item in items]


def _random_item(text: str, words: list[str], random: np.random.Generator) -> Item:
    blank = text.index(MASK)
    found = [one for one in WORD.finditer(text) if not blank <= one.start() < blank + len(MASK)]
    marked = found[random.integers(len(found))]
    other, word, foil = random.choice([one for one in words if one != marked[0].lower()], 3, replace=False)
    return Item(f"{text[: marked.start()]}*{marked[0]}/{other}*{text[marked.end() :]}", "", word, foil)


def asked(question: str, how: str, runs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The p and q values of every place, for each run."""
    for seed in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            model = permuted(Path(folder), seed)
            summary = experiment(model, random_items(model, seed, question), question, how, seed).summary
        yield summary.p.ravel(), summary.q.ravel()


def main() -> None:
    reads = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reads.add_argument("questions", nargs="*", metavar="QUESTION", help=f"of {', '.join(ASKED)}; all without")
    reads.add_argument("--runs", type=int, default=RUNS, help=f"runs of {ITEMS} items for each, {RUNS} without")
    given = reads.parse_args()
    print("question | way | places | share of p < 0.05 | runs with any q < 0.05")
    for question in given.questions or ASKED:
        for how in ASKED[question]:
            found = list(asked(question, how, given.runs))
            below = np.mean([(p < 0.05).mean() for p, _ in found])
            after = sum(bool((q < 0.05).any()) for _, q in found)
            print(f"{question} | {how} | {found[0][0].size} | {below:.1%} | {after} of {given.runs}", flush=True)


if __name__ == "__main__":
    main()
