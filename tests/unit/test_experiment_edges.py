"""Edges against transformers in double precision: what one component sends to one other, by hooks and finite differences."""

import itertools

import numpy as np
import pytest
import torch

import explorer
from explorer.core.errors import CapabilityError
from explorer.experiments.compute import estimating
from explorer.experiments.compute.experiment import experiment, experiment_in_steps
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.patching import PAIRS
from explorer.experiments.compute.targets import WORD, Target
from explorer.experiments.pictures import board, shown_places
from explorer.experiments.sentences import tell
from explorer.experiments.showing import find_clicked
from tests.families import write_family
from tests.hooks import eager_bert, every_dense, hooked, seen_in, with_head
from tests.unit.test_experiment_questions import BOTH
from tests.waiting import drain

ITEMS = [*BOTH[:2], *BOTH[6:]]
STEPS = 5  # of a path
SMALL = 1e-4  # what a finite difference takes of an edge, on both sides


class Runs:
    """Runs of an item and its changed text by transformers; components are "embeddings", (layer, head or None: MLP), "answer"."""

    def __init__(self, model, item, pieces):
        self.module, self.heads = eager_bert(model).double(), model.capabilities.heads
        layers = self.module.bert.encoder.layer
        self.own, self.changed = (model.tokenizer(text, return_tensors="pt") for text in (item.text_a, item.changed[0]))
        self.place = int((self.own["input_ids"][0] == model.mask_id).nonzero()[0])
        self.pair = model.tokenizer.convert_tokens_to_ids(list(pieces))
        self.dense, self.neurons = every_dense(self.module), [layer.output.dense for layer in layers]
        self.inputs = [layer.attention.output.LayerNorm for layer in layers]  # what feed-forward blocks read
        self.parts = {part: [getattr(layer.attention.self, part) for layer in layers] for part in ("query", "key", "value")}
        self.senders = ["embeddings", *((at, head) for at in range(len(layers)) for head in [*range(self.heads), None])]
        self.receivers = [*self.senders[1:], "answer"]
        self.sent = [self.sends(inputs) for inputs in (self.own, self.changed)]

    @torch.no_grad()
    def logits(self, embedded=None):
        with hooked([self.module.bert.embeddings], lambda _, own: embedded):
            return self.module(**self.changed).prediction_logits[0, self.place]

    def difference(self, logits):
        return float(logits[self.pair[0]] - logits[self.pair[1]])

    @torch.no_grad()
    def sends(self, inputs, embedded=None):
        """What the embeddings, W_O of every layer (it reads), and every feed-forward block give in a run."""

        first, added = [embedded], []

        def run():
            with hooked([self.module.bert.embeddings], lambda _, own: first.append(own) if embedded is None else embedded):
                self.module(**inputs)

        heads = seen_in(self.dense, lambda: added.extend(seen_in(self.neurons, run)), before=True)
        return first[-1], heads, added

    def patched(self, sender, receiver, amount, embedded=None):
        """The logits with `amount` of an edge: the first pass freezes all but the sender, the second changes the receiver."""
        first, heads, added = self.sends(self.changed, embedded)
        mine, theirs = self.sent
        first = first + amount * (mine[0] - theirs[0]) * (sender == "embeddings")
        heads, added = list(heads), list(added)
        if sender != "embeddings":
            at, head = sender
            if head is None:
                added[at] = added[at] + amount * (mine[2][at] - theirs[2][at])
            else:
                heads[at] = with_head(heads[at], head, self.heads, heads[at] + amount * (mine[1][at] - theirs[1][at]))
        end = self.module.bert.encoder.layer[-1]
        watched = end if receiver == "answer" else self.inputs[receiver[0]]
        watched = (
            [watched] if receiver == "answer" or receiver[1] is None else [layers[receiver[0]] for layers in self.parts.values()]
        )
        frozen = hooked(self.dense, lambda at, _: heads[at], True), hooked(self.neurons, lambda at, _: added[at])
        with frozen[0], frozen[1]:
            received = seen_in(watched, lambda: self.logits(first))

        def receive(number, own):
            return received[number] if receiver[1] is None else with_head(own, receiver[1], self.heads, received[number])

        if receiver == "answer":
            with hooked([end], lambda _, own: received[0]):
                return self.logits(embedded)
        if receiver[1] is None:  # only the block reads it, the residual connection does not
            block = self.module.bert.encoder.layer[receiver[0]].intermediate.dense
            with hooked([block], lambda _, own: received[0], before=True):
                return self.logits(embedded)
        with hooked(watched, receive):
            return self.logits(embedded)

    def slopes(self, embedded=None):
        """The derivative of the logits by the amount of every edge, [senders, receivers, words]."""
        edges = itertools.product(self.senders, self.receivers)
        ends = [[self.patched(*edge, amount, embedded) for amount in (SMALL, -SMALL)] for edge in edges]
        slopes = torch.stack([(more - less) / (2 * SMALL) for more, less in ends])
        return slopes.unflatten(0, (len(self.senders), -1))


@pytest.fixture(scope="module")
def runs(tiny):
    found = experiment(tiny, ITEMS, "attribution_patching", "edges")
    return [Runs(tiny, item, pieces) for item, pieces in zip(found.items, found.pieces, strict=True)]


@pytest.mark.parametrize("how", ["edges", "edges_integrated"])
def test_an_edge_is_the_slope_of_two_passes_with_hooks(tiny, runs, how):
    found = experiment(tiny, ITEMS, "attribution_patching", how)
    for row, run in enumerate(runs):
        (own, _, _), (changed, _, _) = run.sent
        steps = range(1, STEPS + 1) if how == "edges_integrated" else [0]
        path = [changed + step / STEPS * (own - changed) for step in steps]
        slopes = torch.stack([run.slopes(at) for at in path]).mean(0)
        wanted = slopes[..., run.pair[0]] - slopes[..., run.pair[1]]
        np.testing.assert_allclose(found.values[row], wanted, atol=1e-4 * float(wanted.abs().max()))
        if how == "edges":
            _check_null(tiny, found, row, run, slopes)
    assert (np.abs(found.values).max((1, 2)) > 0.01).all()


def _check_null(model, found, row, run, slopes):
    """Other pairs of words, drawn as patching draws them."""
    pool, number = Target(model, WORD).whole_words, ITEMS.index(found.items[row]) + 1
    drawn = np.random.default_rng((0, number)).permutation(pool)[: 2 * min(PAIRS, len(pool) // 2)].reshape(-1, 2)
    with torch.no_grad():
        own, changed = (run.module(**one).prediction_logits[0, run.place] for one in (run.own, run.changed))
    first, second = drawn.T
    sizes = (own - changed)[first] - (own - changed)[second]
    share = ((slopes[..., first] - slopes[..., second]) * sizes.sign()).sum(-1) / sizes.abs().sum()
    np.testing.assert_allclose(found.nulls[row], share * found.sizes[row], atol=2e-4)


def test_the_strongest_edges_are_patched_as_hooks_do(tiny, runs, monkeypatch):
    monkeypatch.setattr(estimating, "STRONGEST", 49)
    found = experiment(tiny, ITEMS, "attribution_patching", "edges")
    for row, run in enumerate(runs):
        before = run.difference(run.logits())
        for one, other in np.ndindex(7, 7):
            edge = run.senders[one], run.receivers[other]
            exact = run.difference(run.patched(*edge, 1)) - before
            assert found.also["exact"][row, one, other] == pytest.approx(exact, abs=1e-4), edge


@pytest.mark.parametrize("kind", ["bert", "distilbert", "electra-generator"])
def test_what_a_component_sends_adds_up_to_its_own_estimate(tmp_path, kind):
    """By the chain rule, since every way from a component begins with one of its edges."""
    model = explorer.load(str(write_family(tmp_path / kind, kind)))
    items = [
        Item(f"the *{one}/{other}* [MASK] to it", "", "", "") for one, other in itertools.permutations(("man", "dog", "store"), 2)
    ]
    edges, heads = (experiment(model, items, "attribution_patching", how) for how in ("edges", "heads"))
    count = model.capabilities.heads
    every = edges.values.sum(2)[:, 1:].reshape(len(edges.items), -1, count + 1)[..., :count]
    np.testing.assert_allclose(every, heads.values, atol=1e-4 * np.abs(heads.values).max())


def test_the_picture_has_the_strongest_edges_by_name(tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(estimating, "STRONGEST", 3)
    shares, found = drain(experiment_in_steps(tiny, ITEMS, "attribution_patching", "edges"))
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1 == shares[-1]
    explorer.save_experiment(found, tmp_path / "run.json")
    assert explorer.open_experiment(tmp_path / "run.json").axes == found.axes
    assert [list(axis.labels) for axis in found.axes] == [
        ["embeddings", "1.1", "1.2", "MLP 1", "2.1", "2.2", "MLP 2"],
        ["1.1", "1.2", "MLP 1", "2.1", "2.2", "MLP 2", "answer"],
    ]
    measured = np.argwhere(~np.isnan(found.also_means["exact"]))
    rows, columns = shown_places(found)
    assert (set(rows), set(columns)) == (set(measured[:, 0]), set(measured[:, 1]))
    drawn = board(found, found.summary.selected)
    assert list(drawn.layout.yaxis.ticktext) == [found.axes[0].labels[row] for row in rows]
    assert find_clicked(found, [0, 0]) == (rows[0], columns[0])
    assert find_clicked(found, [99, 0]) == ()
    firsts = [0, 2, 2, 3, 5, 5, 6]  # the first receiver behind each sender
    later = np.arange(7) >= np.array(firsts)[:, None]
    later[0, 5:] = False  # the embeddings of the token that is read are the same in both runs
    np.testing.assert_array_equal(found.summary.tested, later)
    assert found.name_of((1, 6)) == "the edge from head 1.1 to the answer"
    assert tell(found).startswith(f"{found.name_of(found.summary.selected)}, selected on".replace("the", "The", 1))


def test_edges_need_a_norm_after_each_sum(tmp_path, refusal):
    model = explorer.load(str(write_family(tmp_path / "modernbert", "modernbert")))
    assert "LayerNorm" in refusal(CapabilityError, lambda: experiment(model, ITEMS, "attribution_patching", "edges"), model.name)
