"""Which heads decide between two words, over many items."""

from explorer.experiments.asking import TESTS, AskingView, between, doubt, helping, plain, results
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.heads_off import HEADS_OFF, MEAN, RESAMPLE, ZERO
from explorer.experiments.compute.targets import WORD
from explorer.experiments.naming import in_groups, of_items
from explorer.experiments.pictures.places import SURE
from explorer.experiments.source import TARGET, WITH_TARGET
from explorer.ui.pictures.bars import signed
from explorer.ui.settings import choice, use
from explorer.ui.subject import head_name
from explorer.ui.view import caption

HOW = (("zeros", ZERO), ("its mean over all items", MEAN), ("what it gives in another item", RESAMPLE))
ABOUT = (
    "Mean over {items} of the change of the logit difference, word minus foil, without each head alone; with all heads it is "
    "{before}. Blue: the head helps the word. A dot: q below 0.05, {sure} of {heads} heads; a random head changes it by "
    "{random}."
)


class HeadsDecide(AskingView):
    """Every head switched off in every item."""

    name, question = "experiments/heads", "Which heads decide?"
    start = "Switch every head off in every item"
    layout = (*WITH_TARGET, results("how"))
    asks, way_of = HEADS_OFF, "how"
    unit, beside = "change of the logit difference", "a random head"
    columns_each, adds_before = ("all heads", "without {}"), True
    how: str = choice(HOW, "A head that is off gives", menu=True, elem_classes="inline")
    target: str = use(TARGET, WORD)
    help = caption(
        "A head is off when its output before W_O is replaced at every token. The effect is the logit difference without the "
        "head minus that with it, as in *Switch heads off*. The head with the lowest mean in one half of the groups is selected. "
        "If one word is right in most items, a head that always prefers it counts too, so balance the items." + TESTS
    )

    def told(self, found: Experiment) -> str:
        """What the board shows."""
        summary = found.summary
        return ABOUT.format(
            items=in_groups(len(found.items), summary.groups),
            before=plain(float(found.before.mean())),
            sure=int((summary.q < SURE).sum()),
            heads=summary.q.size,
            random=signed(summary.random),
        )

    def tell(self, found: Experiment) -> str:
        """The selected head on the items that it was not selected on."""
        summary, held_out = found.summary, found.summary.held_out
        name = head_name((summary.selected[0], summary.selected[1])).capitalize()
        told = (
            f"{name}, selected on {of_items(len(found.items) - held_out.items)}, changes the logit difference of the other "
            f"{held_out.items} by {signed(held_out.effect)} of {plain(found.held_out_before)} "
            f"({between(held_out, signed)}; rank {held_out.rank} of {summary.q.size}); a random head "
            f"by {signed(held_out.random)}."
        )
        return f"No head decides for certain: {told[0].lower()}{told[1:]}" if doubt(held_out) else told

    def counted(self, found: Experiment, at: tuple[int, ...]) -> str:
        """In how many items the head helps."""
        return helping(found, at)
