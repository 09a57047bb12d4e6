"""Scripts of the Experiments tab: a question asked of every item with transformers alone."""

from typing import Any

from explorer.experiments.compute.attention import link
from explorer.experiments.compute.heads_off import ZERO
from explorer.experiments.compute.patching import RESIDUAL
from explorer.experiments.compute.question import ReadItem
from explorer.experiments.compute.reading import read_items_as
from explorer.experiments.compute.targets import WORD
from explorer.experiments.source import FILE
from explorer.techniques.targets import piece_of
from explorer.techniques.tuned_lens import RAW
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script, written
from explorer.ui.subject import Subject

TEXTS = "text A, text B, word, foil"


def heads(view: Any, subject: Subject) -> str:
    """The mean effect of every head; '' for other ways than zeros, and as `_rows` says."""
    rows = _rows(view, subject) if view.how == ZERO else ""
    names, count = Names.of(subject), subject.model.capabilities.heads
    return rows and _script(
        view,
        names,
        written("items", rows, TEXTS),
        f"""{names.layers}{names.running}
def difference(hidden, place, pair, at=None, head=0):  # logits of word minus foil, without a head of layer `at`
    def without(dense, read):  # its slice of what W_O reads is zero: Michel et al. 2019
        context = read[0].unflatten(-1, ({count}, -1)).clone()
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
            {_read(names)}
            start = model(**inputs, output_hidden_states=True).hidden_states[0]
            asked = start, place, tokenizer.convert_tokens_to_ids(pair)
            before = difference(*asked)
            alone = [[difference(*asked, at, head) for head in range({count})] for at in range(len(layers))]
            changes.append(torch.tensor(alone) - before)
        effects = torch.stack(changes).mean(0)  # negative where a head helps the word
        print(effects)
        """,
    )


def patching(view: Any, subject: Subject) -> str:
    """The shares that hidden states recover; '' for heads and feed-forward blocks, and as `_rows` says."""
    if view.patched != RESIDUAL or not (rows := _rows(view, subject)):
        return ""
    names, (used, _) = Names.of(subject), read_items_as(view.asked(subject), view.items_of(subject.model))
    changed = {one.number - 1: names.texts(*one.item.changed) for one in used if one.item.changed}
    rows = [(*changed[number], *row) for number, row in enumerate(rows) if number in changed]
    return _script(
        view,
        names,
        written("items", rows, f"changed texts, {TEXTS}"),
        f"""{names.layers}{names.running}
def difference(hidden, place, pair, state):  # logits of word minus foil, from a hidden state [1, tokens, hidden] on
    for layer in layers[state:]:
        hidden = {names.run("layer", "hidden")}
    word, foil = {names.words("hidden[:, place]")}[0, pair].tolist()
    return word - foil""",
        f"""
        recovered, sizes = [], []  # [items, hidden states, (changed words, other words, token read)] and [items]
        {names.unnormed.strip()}
        for changed_a, changed_b, text_a, text_b, *pair in items:
            {_read(names, "changed_a, changed_b or None", "changed", False)}
            {_read(names)}
            pair = tokenizer.convert_tokens_to_ids(pair)
            own, other = (model(**one, output_hidden_states=True).hidden_states for one in (inputs, changed))
            differs, read = (inputs["input_ids"] != changed["input_ids"])[0], torch.arange(own[0].shape[1]) == place
            whole, before = (difference(one[-1], place, pair, len(layers)) for one in (own, other))
            if whole <= before:
                continue  # nothing to recover
            states = list(enumerate(zip(own, other)))
            roles = [differs, ~differs & ~read, read]
            after = [
                [difference(torch.where(role[:, None], mine, theirs), place, pair, at) for role in roles]
                for at, (mine, theirs) in states
            ]
            recovered.append(torch.tensor(after) - before)
            sizes.append(whole - before)
        effects = torch.stack(recovered).sum(0) / sum(sizes)
        print(effects)
        """,
    )


def lens(view: Any, subject: Subject) -> str:
    """The mean lead of the word at every hidden state; '' for the tuned lens, and as `_rows` says."""
    names, rows = Names.of(subject), _rows(view, subject) if view.reading == RAW else ""
    return rows and _script(
        view,
        names,
        written("items", rows, TEXTS),
        f"""
        leads = []  # [items, hidden states]
        {names.unnormed.strip()}
        for text_a, text_b, *pair in items:
            {_read(names)}
            states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)[:, place]
            word, foil = {names.words("states")}[:, tokenizer.convert_tokens_to_ids(pair)].T  # each state as if it were the last
            leads.append(word - foil)
        effects = torch.stack(leads).mean(0)
        print(effects)
        """,
    )


def attention(view: Any, subject: Subject) -> str:
    """The mean weight in every head; '' as `_rows` says."""
    if not _can_be_written(view, subject):
        return ""
    names = Names.of(subject)
    rows = [_linked(names, one, view.looks) for one in read_items_as(view.asked(subject), view.items_of(subject.model))[0]]
    return _script(
        view,
        names,
        written("items", rows, "text A, text B, tokens that look, tokens looked at"),
        f"""
        weights = []  # [items, layers, heads]
        for text_a, text_b, queries, keys in items:
            {_read(names, place=False)}
            attention = torch.cat(model(**inputs, output_attentions=True).attentions)  # [layers, heads, query, key]
            weights.append(attention[:, :, queries].mean(2)[..., keys].sum(-1))
        effects = torch.stack(weights).mean(0)
        print(effects)
        """,
        eager=True,
    )


def likelihood(view: Any, subject: Subject) -> str:
    """How much likelier the texts with the word are, in three ways of counting; '' as `_rows` says."""
    names, rows = Names.of(subject), _rows(view, subject)
    return rows and _script(
        view,
        names,
        written("items", rows, TEXTS),
        f"""
        leads = []  # [items, (the blank, the other pieces, all pieces)]
        {names.unnormed.strip()}
        for text_a, text_b, *pair in items:
            {_read(names)}
            ids, sums = inputs["input_ids"][0], []
            others = [at for at, id in enumerate(ids.tolist()) if id not in tokenizer.all_special_ids]
            for filler in tokenizer.convert_tokens_to_ids(pair):
                filled, logs = ids.clone(), []
                filled[place] = filler
                for at in [place, *others]:
                    inputs["input_ids"] = filled.clone()[None]
                    inputs["input_ids"][0, at] = tokenizer.mask_token_id
                    hidden = model(**inputs, output_hidden_states=True).hidden_states[-1][0, at]
                    logs.append({names.words("hidden[None]")}[0].log_softmax(-1)[filled[at]])
                sums.append(torch.stack([logs[0], sum(logs[1:]), sum(logs)]))
            leads.append(sums[0] - sums[1])
        effects = torch.stack(leads).mean(0)
        print(effects)
        """,
    )


def _script(view: Any, names: Names, *parts: str, eager: bool = False) -> str:
    return script(view.question, names.opened(eager=eager), *parts)


def _read(names: Names, texts: str = "text_a, text_b or None", name: str = "inputs", place: bool = True) -> str:
    """Lines of a loop over items that read one and find its blank."""
    at = '\nplace = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])' if place else ""
    return f"{name} = {names.tokenized(texts)}{names.untyped(name)}{at}".replace("\n", "\n            ")


def _can_be_written(view: Any, subject: Subject) -> bool:
    """Not for a file, which stays on the page, nor where there is no answer, nor for another target than words."""
    return view.source != FILE and view.chosen_target == WORD and not view.problem(subject)


def _rows(view: Any, subject: Subject) -> Any:
    """Items with the pieces that transformers has; "" where `_can_be_written` denies it, and for words that the model chooses."""
    if not _can_be_written(view, subject) or not all(one.word and one.foil for one in view.items_of(subject.model)):
        return ""
    names, model, items = Names.of(subject), subject.model, view.items_of(subject.model)
    named = {
        word: model.tokenizer.convert_ids_to_tokens(piece_of(model, word)[0]) for one in items for word in (one.word, one.foil)
    }
    return [(*names.texts(one.text_a, one.text_b), named[one.word], named[one.foil]) for one in items]


def _linked(names: Names, item: ReadItem, way: str) -> tuple[Any, ...]:
    return *names.texts(item.item.text_a, item.item.text_b), *map(list, link(item, way))


CODE = {
    "experiments/heads": heads,
    "experiments/patching": patching,
    "experiments/lens": lens,
    "experiments/attention": attention,
    "experiments/likelihood": likelihood,
}
_CALL = "In Python it is model.experiment(items, question, how); the technique has a script of its own in one sentence."
WITHOUT = {
    **dict.fromkeys(("experiments/cut", "experiments/routes", "experiments/attribution"), _CALL),
    "experiments/saved": "In Python it is explorer.compare_experiments(*map(explorer.open_experiment, paths)).",
    "experiments/suites": "It reads pairs that come with the app; the Python of Guesses does it with one of them.",
}
