"""A head that tags words beside the loop that people write for it, which runs the frozen encoder in every epoch."""

from collections.abc import Iterator

import torch
import transformers

from tests.benchmarks import Comparison
from tests.benchmarks.finetune import base_model, seconds
from tests.benchmarks.texts import labelled_texts

SENTENCES = 2_000
EPOCHS, BATCH, RATE = 10, 32, 1e-2
EVERY = 8  # of the loop's batches one in so many is timed, all along the file, and counted so many times
IGNORED = -100  # of a piece that has no tag


def run() -> Iterator[Comparison]:
    """2,000 sentences, ten epochs, a head on the first piece of each word of a frozen model of BERT-base size."""
    from explorer.core.steps import finished
    from explorer.finetune.compute.predictor import Tagger
    from explorer.finetune.compute.tag_task import Tagging
    from explorer.finetune.compute.task import make_plan
    from explorer.finetune.compute.training import run_training

    model, examples = base_model(), tagged_sentences()
    settings = {"epochs": EPOCHS, "learning_rate": RATE, "batch_size": BATCH}
    plan = make_plan(model, -1, "first", predictor=Tagger, **settings)
    ours = seconds(lambda: finished(run_training(Tagging(model, examples, plan))))

    tagger = transformers.AutoModelForTokenClassification.from_pretrained(
        model.checkpoint.folder, num_labels=len(examples.classes), dtype=torch.float32
    )
    tagger.base_model.requires_grad_(False)
    optimizer, starts = torch.optim.Adam(tagger.classifier.parameters(), lr=RATE), range(0, len(examples), BATCH * EVERY)
    timed = sum(min(BATCH, len(examples) - start) for start in starts)
    part = seconds(lambda: usual_steps(model, tagger, examples, optimizer, starts))
    loop = EPOCHS * part * len(examples) / timed
    yield Comparison("tagger", "vectors of words once", "the usual loop", ours, loop, "s", "ratio at most 0.1")


def tagged_sentences():
    """Sentences whose words have tags; what they mean does not matter, for a tag is learnt as quickly as any other."""
    from explorer.text.tagged import TaggedSentence, split_words
    from explorer.training.tagging import TaggedExamples

    words = [tuple(split_words(text)) for text in labelled_texts(SENTENCES).texts]
    return TaggedExamples(tuple(TaggedSentence(one, tuple(f"T{len(word) % 12}" for word in one)) for one in words))


def usual_steps(model, tagger, examples, optimizer, starts) -> None:
    """Steps as they are usually written: batches in file order, padded, the first piece of a word with its tag."""
    place = {tag: index for index, tag in enumerate(examples.classes)}
    for start in starts:
        batch = examples.sentences[start : start + BATCH]
        encoded = model.tokenizer(
            [list(one.words) for one in batch],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=512,
            return_tensors="pt",
        )
        labels = torch.full(encoded["input_ids"].shape, IGNORED)
        for row, one in enumerate(batch):
            seen = set()
            for token, word in enumerate(encoded.word_ids(row)):
                if word is not None and word not in seen:
                    seen.add(word)
                    labels[row, token] = place[one.tags[word]]
        optimizer.zero_grad()
        tagger(**encoded, labels=labels).loss.backward()
        optimizer.step()
