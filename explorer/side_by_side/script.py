"""Side by side: the same question to two models, or of two inputs."""

from typing import Any

from explorer.side_by_side.guesses import GUESSES
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject
from explorer.ui.view import View


class _Sides:
    """Both sides, each with its model, input and variable name."""

    def __init__(self, view: Any, subject: Subject, eager: bool = False) -> None:
        self.here, self.there = subject, view.other(subject)
        self.one = view.is_one_model(subject)
        self.mine = Names.of(subject)
        self.yours = self.mine if self.one else Names.of(self.there).called("other_model")
        self.reading = "tokenizer" if self.one else "other_tokenizer"
        other = "" if self.one else self.yours.opened(eager=eager, place="OTHER", tokenizer=self.reading)
        self.opening = [self.mine.opened(eager=eager), other]
        self.inputs = [
            self.mine.encoded(subject.text_a, subject.text_b, "here"),
            self.yours.encoded(self.there.text_a, self.there.text_b, "there", self.reading),
        ]

    def pieces(self) -> str:
        """The pieces of both sides."""
        return f"""tokens_here = tokenizer.convert_ids_to_tokens(here["input_ids"][0])
tokens_there = {self.reading}.convert_ids_to_tokens(there["input_ids"][0])"""


def pieces(view: View, subject: Subject) -> str:
    """Both rows of pieces."""
    sides = _Sides(view, subject)
    return script(view.question, *sides.opening, *sides.inputs, sides.pieces(), "print(tokens_here, tokens_there)")


def guesses(view: View, subject: Subject) -> str:
    """The best guesses for the blank, on both sides."""
    sides = _Sides(view, subject)
    both = (sides.here, sides.there)
    if not all(one.model.capabilities.fill_mask and one.trace.mask_positions for one in both):
        return ""
    made = []
    for name, one, names, reading in (("here", both[0], sides.mine, "tokenizer"), ("there", both[1], sides.yours, sides.reading)):
        made.append(f"""logits = {names.at}(**{name}).{names.word_logits}[0, {one.blank}]  # at position {one.blank}
shares_{name}, ids_{name} = logits.softmax(-1).topk({GUESSES})
print("{name}", *zip({reading}.convert_ids_to_tokens(ids_{name}), shares_{name}.tolist()))""")
    return script(view.question, *sides.opening, *sides.inputs, *made)


def pair(view: View, subject: Subject) -> str:
    """The next-sentence head's answers on both sides."""
    sides = _Sides(view, subject)
    both = (sides.here, sides.there)
    if not all(one.model.capabilities.next_sentence and one.text_b.strip() for one in both):
        return ""
    made = [
        f"""logits_{name} = {names.at}(**{name}).{names.pair_logits}[0]  # {", ".join(names.model.pair_names)}
print("{name}", logits_{name}.softmax(-1), logits_{name})"""
        for name, names in (("here", sides.mine), ("there", sides.yours))
    ]
    return script(view.question, *sides.opening, *sides.inputs, *made)


def attention(view: View, subject: Subject) -> str:
    """The same head on both sides, and the difference."""
    sides = _Sides(view, subject, eager=True)
    made = []
    for name, one, names in (("here", sides.here, sides.mine), ("there", sides.there, sides.yours)):
        layer, head = one.selection.attention_layer, one.selection.head_index
        made.append(f"""weights_{name} = {names.at}(**{name}, output_attentions=True).attentions[{layer}][0, {head}]
print("{name}, layer {layer + 1}, head {head + 1}", weights_{name})""")
    difference = ""
    if sides.here.trace.kept == sides.there.trace.kept:
        difference = """
            difference = weights_there - weights_here  # [query, key]
            moved = difference.abs().sum(-1).mean() / 2  # 0: the same, 1: nothing in common
            print(moved)
        """
    return script(view.question, *sides.opening, *sides.inputs, *made, difference)


def states(view: View, subject: Subject) -> str:
    """The distance between the tokens at each position of both sides, at every hidden state."""
    sides = _Sides(view, subject)
    if not sides.one or sides.here.trace.kept != sides.there.trace.kept:
        return ""
    unnormed = sides.mine.unnormed
    return script(
        view.question,
        *sides.opening,
        *sides.inputs,
        f"""{unnormed}both = (model(**one, output_hidden_states=True).hidden_states for one in (here, there))
mine, yours = (torch.stack(states)[:, 0] for states in both)
apart = 1 - torch.cosine_similarity(mine, yours, dim=-1)  # [layers + 1, tokens]
print(apart)""",
    )


CODE = {
    "side-by-side/pieces": pieces,
    "side-by-side/guesses": guesses,
    "side-by-side/pair": pair,
    "side-by-side/attention": attention,
    "side-by-side/states": states,
}
WITHOUT = {
    "side-by-side/swaps": "It offers words to click and computes nothing.",
    "side-by-side/layers": "It reads a hundred sentences that come with the app.",
}
