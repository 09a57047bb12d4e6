"""Scripts of what an answer depends on: attribution, heads switched off, what-if, patching; for a masked word or a pair."""

from dataclasses import dataclass
from typing import Any

from explorer.ui.attribution import INTEGRATED
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Selection, Subject

NEXT = "\n        "  # a line of a loop in a function
ANSWERED = """
def answered(off):  # the probabilities with heads, or weights (head, query, key), by layer from 0, zero after the softmax"""

FILLED = {
    "pad": "words(torch.where(special, ids, tokenizer.pad_token_id))",
    "mask": "words(torch.where(special, ids, tokenizer.mask_token_id))",
    "mean": "torch.where(special[..., None], words(ids), words.weight.mean(0))",
}
"""The word embeddings of each baseline: special tokens keep their own."""
SOFTMAX = ".softmax(-1)"
LEAD = "[[foil, answer]].diff()[0]"  # how far the logit of the answer is above that of the foil


@dataclass(frozen=True)
class Asked:
    """The answer's logit, written as code that reads it from last hidden states."""

    names: Names
    target: Any

    @property
    def is_word(self) -> bool:
        """Whether the answer is a piece at a position; otherwise it is the first of the two answers for a pair."""
        return self.target.head == "fill_mask"

    @property
    def lines(self) -> str:
        """The lines that define it."""
        if not self.is_word:
            return f"answer = 0  # {self.names.model.pair_names[0]}"
        ids = [self.target.id] if self.target.foil is None else [self.target.id, self.target.foil]
        pieces = self.names.model.tokenizer.convert_ids_to_tokens(ids)
        if self.target.foil is None:
            return f"position, answer = {self.target.position}, tokenizer.convert_tokens_to_ids({pieces[0]!r})"
        return f"position, (answer, foil) = {self.target.position}, tokenizer.convert_tokens_to_ids({pieces!r})"

    def read(self, hidden: str) -> str:
        """The logits of all answers for the last hidden states [batch, tokens, hidden] in a variable: [batch, answers]."""
        return self.names.words(f"{hidden}[:, position]") if self.is_word else self.names.pair(hidden)

    def of(self, outputs: str) -> str:
        """The logits of all answers, from the outputs of a whole forward pass."""
        names = self.names
        return f"{outputs}.{names.word_logits}[:, position]" if self.is_word else f"{outputs}.{names.pair_logits}"


def attribution(view: Any, subject: Subject) -> str:
    """A score for each token, by the chosen method and by occlusion."""
    names = Names.of(subject)
    asked = Asked(names, view.target(subject))
    integrated = f"""
        nodes, sizes = np.polynomial.legendre.leggauss({int(view.steps)})  # Sundararajan et al. 2017
        scores = torch.zeros(len(ids[0]))
        for node, size in zip(nodes, sizes):  # on the way from the baseline to the input
            point = (baseline + (1 + node) / 2 * (embedded - baseline)).float().requires_grad_()
            logit(point).backward()
            scores += size / 2 * (point.grad * (embedded - baseline)).sum(-1)[0]
    """
    simple = """
        point = embedded.clone().requires_grad_()
        logit(point).backward()
        scores = (point.grad * point.detach()).sum(-1)[0]  # gradient × input: Shrikumar et al. 2016
    """
    baseline = f"\nbaseline = {FILLED[view.baseline]}" if view.method == INTEGRATED else ""
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        f"""{asked.lines}
ids, words = inputs.pop("input_ids"), model.get_input_embeddings()
special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
embedded = words(ids){baseline}
def logit(embedded):
    logits = {asked.of("model(inputs_embeds=embedded, **inputs)")}[0]
    return logits{"[answer]" if asked.target.foil is None else LEAD}""",
        integrated if view.method == INTEGRATED else simple,
        """
        occlusion = torch.zeros(len(ids[0]))
        for place in (~special[0]).nonzero()[:, 0]:  # how far the logit falls when [MASK] stands there
            changed = ids.clone()
            changed[0, place] = tokenizer.mask_token_id
            occlusion[place] = logit(embedded) - logit(words(changed))
        for token, score, fall in zip(tokenizer.convert_ids_to_tokens(ids[0]), scores.tolist(), occlusion.tolist()):
            print(f"{token} {score:+.3f} {fall:+.3f}")
        """,
    )


def _answered(asked: Asked, cut: bool, patch: str = "", start: str = "outputs.hidden_states[0]") -> str:
    """The forward pass, by hand, as a function of the heads off or weights `cut`, optionally with a vector patched in."""
    names = asked.names
    at_the_end = patch.replace("\n    ", "\n").replace("number", "len(layers)")
    run = f"hidden = {names.run('layer', 'hidden')}"
    hooked = f"""
        handle = {names.mixing}.register_forward_pre_hook(without(off.get(number, [])))
        {run}
        handle.remove()"""
    return f"""{names.attending(ANSWERED) if cut else _hooking(names)}
    hidden = {start}
    for number, layer in enumerate(layers):{patch}{f"{NEXT}{run}" if cut else hooked}{at_the_end}
    return {asked.read("hidden")}{SOFTMAX}[0]"""


def _hooking(names: Names) -> str:
    """The same function's first lines, with a hook, for heads only."""
    return f"""
def without(heads):  # their slices of what W_O reads are zero: Michel et al. 2019
    def hook(dense, read):
        context = read[0].unflatten(-1, ({names.model.capabilities.heads}, -1)).clone()
        context[..., heads, :] = 0
        return context.flatten(-2)
    return hook
def answered(off):  # the probabilities with heads, by layer from 0, switched off"""


def off_and_cut(selection: Selection) -> str:
    """The heads switched off and weights cut, as dictionaries by layer."""
    off: dict[int, list[str]] = {}
    for layer, head in selection.off:
        off.setdefault(layer, []).append(f"{head}")
    for layer, query, key, of in selection.cut:
        off.setdefault(layer, []).append(f"({'slice(None)' if of is None else of}, {query}, {key})")
    written = ", ".join(f"{layer}: [{', '.join(places)}]" for layer, places in off.items())
    return f"{{{written}}}"


def _after(selection: Selection, squashed: str = "", shown: str = "print(after[answer])") -> str:
    """Lines for the answer with the heads off and weights cut; `squashed` makes probabilities of logits."""
    return f"after = answered({off_and_cut(selection)}){squashed}\n{shown}"


def _printed(asked: Asked, shares: str) -> str:
    """Lines that print the answer's probability and, with a foil, how far its logit is above the foil's."""
    if asked.target.foil is None:
        return f"print({shares}[answer])"
    return f"lead = ({shares}[answer] / {shares}[foil]).log()  # the difference of logits\nprint({shares}[answer], lead)"


def heads(view: Any, subject: Subject) -> str:
    """The answer without each head, and without those switched off or cut."""
    names, selection, model = Names.of(subject), subject.selection, subject.model.capabilities
    asked = Asked(names, view.target(subject))
    run, squashed, measured = _answered(asked, bool(selection.cut)), "", "answered({off})[answer]"
    if asked.target.foil is not None:
        run, squashed, measured = (
            run.removesuffix(f"{SOFTMAX}[0]").replace("the probabilities", "the logits") + "[0]",
            SOFTMAX,
            "answered({off})" + LEAD,
        )
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        names.states(),
        asked.lines,
        names.layers,
        names.running,
        run,
        f"""
        before = {measured.format(off="{}")}
        alone = [[{measured.format(off="{layer: [head]}")} for head in range({model.heads})] for layer in range({model.layers})]
        effects = torch.tensor(alone)  # [layers, heads]: the same without each head
        print(before, effects)
        """,
        _after(selection, squashed) if selection.off or selection.cut else "",
    )


def what_if(view: Any, subject: Subject) -> str:
    """The answer before and after something is switched off, swapped, patched or cut."""
    question = view.asked(subject)
    if question is None:
        return ""
    names, selection, hidden = Names.of(subject), subject.selection, question.hidden
    asked = Asked(names, question.target)
    masked = f'\n{{}}["input_ids"][0, {hidden}] = tokenizer.mask_token_id  # hidden' if hidden is not None else ""
    opening = [names.opened(), names.encoded(subject.text_a, subject.text_b) + masked.format("inputs"), names.states()]
    first = f"{asked.lines}\nbefore = {asked.read('outputs.hidden_states[-1]')}.softmax(-1)[0]\n{_printed(asked, 'before')}"
    if not selection.is_changed:
        return script(view.question, *opening, first)
    other, start = "", "outputs.hidden_states[0]"
    if selection.swap:
        swapped = subject.swapped
        other = names.encoded(swapped.text_a, swapped.text_b, "swapped") + masked.format("swapped")
        other += "\nother = model(**swapped, output_hidden_states=True)"
        start = "other.hidden_states[0]"
    patch = ""
    if selection.patch:
        layer, token = selection.patch
        start += ".clone()"
        patch = f"""
        if number == {layer}:  # one vector of the run before
            hidden[0, {token}] = outputs.hidden_states[{layer}][0, {token}]"""
    run = _answered(asked, bool(selection.cut), patch, start)
    return script(
        view.question, *opening, first, other, names.layers, names.running, run, _after(selection, shown=_printed(asked, "after"))
    )


def patching(view: Any, subject: Subject) -> str:
    """One hidden state of the clean run at a time, put into the corrupted one."""
    names, (clean, corrupted) = Names.of(subject), view.pair(subject)
    if clean.kept != corrupted.kept:
        return ""  # the view says what to do
    asked = Asked(names, view.target(subject, clean, corrupted))
    plain = asked.target.foil is None
    found, measured = ("probabilities", f"{SOFTMAX}[0, answer]") if plain else ("differences", f"[0]{LEAD}")
    share = "" if plain else "\nrecovered = (differences - bad) / (clean - bad)  # 0 as in run B, 1 as in run A"
    texts = clean.encoding.text_a, clean.encoding.text_b
    if texts == (corrupted.encoding.text_a, corrupted.encoding.text_b):
        pairs = enumerate(zip(clean.ids, corrupted.ids, strict=True))
        place = next((place for place, (mine, other) in pairs if mine != other), 0)
        bad = f"""import copy
corrupted = copy.deepcopy(inputs)
corrupted["input_ids"][0, {place}] = tokenizer.mask_token_id  # the longer word that matters most, hidden"""
    else:
        bad = names.encoded(corrupted.encoding.text_a, corrupted.encoding.text_b, "corrupted")
    return script(
        view.question,
        names.opened(),
        names.encoded(*texts),
        bad,
        f"""{asked.lines}
{names.unnormed}clean_states = model(**inputs, output_hidden_states=True).hidden_states
bad_states = model(**corrupted, output_hidden_states=True).hidden_states
{names.layers}""",
        names.running,
        f"""
        {found} = torch.empty(len(layers) + 1, inputs["input_ids"].shape[1])  # [hidden state, token]
        for number, token in np.ndindex(*{found}.shape):
            hidden = bad_states[number].clone()
            hidden[0, token] = clean_states[number][0, token]  # one vector of run A in run B
            for layer in layers[number:]:
                hidden = {names.run("layer", "hidden")}
            {found}[number, token] = {asked.read("hidden")}{measured}
        clean, bad = (float({asked.read("states[-1]")}{measured}) for states in (clean_states, bad_states))
        print(clean, bad, {found})
        """,
        share,
    )


CODE = {
    "fill-mask/attribution": attribution,
    "next-sentence/attribution": attribution,
    "fill-mask/heads": heads,
    "next-sentence/heads": heads,
    "attention/what-if": what_if,
    "fill-mask/what-if": what_if,
    "fill-mask/patching": patching,
}
