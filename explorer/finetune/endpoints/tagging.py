"""Endpoints for training a head that tags words, and for using it."""

from typing import Any

from explorer.analysis.entities import EntityScores
from explorer.api.arguments import explorer_for
from explorer.core.errors import InputError
from explorer.finetune.compute import store
from explorer.finetune.compute.predictor import of_kind
from explorer.finetune.compute.run import HeldOutTags
from explorer.finetune.compute.tag_task import Tagging
from explorer.finetune.compute.tagger import Tagger
from explorer.finetune.compute.training import make_plan
from explorer.finetune.endpoints.texts import history_of, trained
from explorer.training.tagging import check_tagged_examples, check_to_tag


def train_tokens(
    examples: list[list[list[str]]],
    layer: int = -1,
    pieces: str = "first",
    epochs: int = 10,
    learning_rate: float = 0.01,
    batch_size: int = 32,
    seed: int = 0,
    model: str = "",
    layers_trained: int = 0,
) -> dict[str, Any]:
    """Train a linear head on [words, tags] examples, two lists of one length each; a fifth of the sentences is held out.

    It reads one vector per word, of its first piece ("first") or the mean of its pieces ("mean"). Batches consist of words; with
    layers_trained, as in /train_head, of sentences. Words beyond the model's length are left out. entity_f1 is that of whole
    names, of all types together, by seqeval's definition; null without B- and I- tags. Progress is streamed.

    Returns:
        `head` (an id), `tags`, `history`, `held_out_accuracy` (of words), `entity_f1`.
    """
    given, explorer = check_tagged_examples(examples), explorer_for(model)
    sent: dict[str, object] = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "seed": seed}
    plan = make_plan(explorer, layer, pieces, layers_trained, False, Tagger, **sent)
    run = trained(Tagging(explorer, given, plan))
    history = history_of(run, "held_out_accuracy")
    return {
        "head": run.id,
        "tags": given.classes,
        "history": history,
        "held_out_accuracy": history[-1]["held_out_accuracy"],
        "entity_f1": _entity_f1(run.held(HeldOutTags).entities(given.classes), given.has_entities),
    }


def _entity_f1(scores: list[EntityScores], there_are: bool) -> float | None:
    """The F1 of all names together, None for tags without names; 0 when there are no names to find."""
    return (scores[0].f1 if scores else 0.0) if there_are else None


def tag(texts: list[Any], head: str) -> dict[str, Any]:
    """The tag that a trained head gives to every word of texts, and its probability.

    A text is cut into words as BERT's tokenizer does it first, at blanks and around punctuation; a list of words is taken as it
    is. A text that is longer than what the model takes is refused.

    Returns:
        `words`, `tags`, `probabilities` (of the tag given): a list for each text.
    """
    sentences = check_to_tag(texts)
    tagger = of_kind(store.fetch_kind(head, "tags").predictor, Tagger)
    found = tagger.tag(explorer_for(tagger.model), sentences)
    for number, (words, shares) in enumerate(zip(sentences, found, strict=True), start=1):
        if len(shares) < len(words):
            most = f"the model reads {len(shares):,} of its {len(words):,} words"
            raise InputError(f"Text {number} is too long, for {most}; send it in parts.")
    return {
        "words": sentences,
        "tags": [[tagger.labels[best] for best in shares.argmax(-1)] for shares in found],
        "probabilities": [shares.max(-1).tolist() for shares in found],
    }


ENDPOINTS = (train_tokens, tag)
