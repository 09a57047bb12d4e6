"""Scripts of the Experiments tab: every head switched off in every item."""

from typing import Any

from explorer.experiments.compute.heads_off import HEADS_OFF, ZERO
from explorer.experiments.compute.questions import QUESTIONS
from explorer.experiments.compute.targets import WORD
from explorer.experiments.source import FILE
from explorer.techniques.targets import piece_of
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script, written
from explorer.ui.subject import Subject


def heads(view: Any, subject: Subject) -> str:
    """The mean effect of every head; '' for a file, which stays on the page, for words that the model chooses, and other ways."""
    if view.source == FILE or (view.how, view.target) != (ZERO, WORD) or view.problem(subject):
        return ""
    items = view.items
    if not all(one.word and one.foil for one in items):
        return ""
    names, model = Names.of(subject), subject.model
    named = {
        word: model.tokenizer.convert_ids_to_tokens(piece_of(model, word)[0]) for one in items for word in (one.word, one.foil)
    }
    rows = [(*names.texts(one.text_a, one.text_b), named[one.word], named[one.foil]) for one in items]
    untyped = names.untyped().replace("\n", "\n            ")
    return script(
        view.question,
        names.opened(),
        written("items", rows, "text A, text B, word, foil"),
        f"""{names.layers}{names.running}
def difference(hidden, place, pair, at=None, head=0):  # logits of word minus foil, without a head of layer `at`
    def without(dense, read):  # its slice of what W_O reads is zero: Michel et al. 2019
        context = read[0].unflatten(-1, ({model.capabilities.heads}, -1)).clone()
        context[..., head, :] = 0
        return context.flatten(-2)
    for number, layer in enumerate(layers):
        handle = {names.mixing}.register_forward_pre_hook(without) if number == at else None
        hidden = {names.run("layer", "hidden")}
        if handle:
            handle.remove()
    word, foil = {names.words("hidden[:, place]")}[0, pair].tolist()
    return word - foil""",
        f"""
        changes = []  # [items, layers, heads]
        {names.unnormed.strip()}
        for text_a, text_b, *pair in items:
            inputs = {names.tokenized("text_a, text_b or None")}{untyped}
            place = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
            start = model(**inputs, output_hidden_states=True).hidden_states[0]
            asked = start, place, tokenizer.convert_tokens_to_ids(pair)
            before = difference(*asked)
            alone = [[difference(*asked, at, head) for head in range({model.capabilities.heads})] for at in range(len(layers))]
            changes.append(torch.tensor(alone) - before)
        effects = torch.stack(changes).mean(0)  # negative where a head helps the word
        print(effects)
        """,
    )


CODE = {"experiments/heads": heads}
_CALL = "In Python it is model.experiment(items, question, how); the technique has a script of its own in one sentence."
WITHOUT = {
    **dict.fromkeys((f"experiments/{name}" for name in QUESTIONS if name != HEADS_OFF), _CALL),
    "experiments/suites": "It reads pairs that come with the app; the Python of Guesses does it with one of them.",
}
