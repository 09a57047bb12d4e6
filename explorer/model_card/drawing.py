"""A drawing of the model with its real sizes."""

from collections.abc import Iterator
from operator import attrgetter

from explorer.bert.explorer import Explorer
from explorer.model_card.pictures import Block, Stage, architecture
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View, note, part

INNER = "feed-forward"


class Drawing(View):
    """From pieces through the embeddings and all layers to the heads; a click opens the tab for that part."""

    name, question = "model/drawing", "How is this model built?"
    width = 5
    drawing = part("architecture")
    help = note("Click a box to see what that part does. The parameters in a layer's boxes are those of all layers together.")

    def compute(self, subject: Subject) -> Content:
        return {"drawing": architecture(stages(subject.model))}


def stages(model: Explorer) -> list[Stage]:
    """The boxes of a model in the order of computation; together they count all its parameters."""
    has, counts = model.capabilities, model.parameters_by_part()
    layers = {kind: sum(count for name, count in counts.items() if name.endswith(f" · {kind}")) for kind in ("attention", INNER)}
    heads = list(_heads(model))
    known = sum(layers.values()) + sum(head.parameters for head in heads)
    final = model.parameters_of(f"{model.family.encoder}.{model.family.final_norm}") if model.family.final_norm else 0
    shared = "one set of weights for all of them" if model.family.shared_layers else ""
    head_size = model.layers[0].attention_dense.in_features // has.heads
    return [
        Stage([Block("Pieces", "text A and B, cut and numbered", tab="Tokens", choice="Pieces")]),
        Stage([Block("Embeddings", _tables(model), has.parameters - known - final, "Tokens", "What is added up")]),
        Stage(
            [
                Block("Attention", f"{has.heads} heads × {head_size}", layers["attention"], "Attention", "One head"),
                Block("Feed-forward", _inner(model), layers[INNER], "Inside a head", "The whole layer"),
            ],
            times=has.layers,
            note=shared,
            between="+ what came in" if _norm_first(model) else "+ what came in, then the norm",
        ),
        Stage([Block("Hidden states", f"{has.layers + 1} × tokens × {has.hidden_size}", final, "Hidden states")]),
        Stage(heads or [Block("No head", "an encoder alone")]),
    ]


def _norm_first(model: Explorer) -> bool:
    """Whether the layers normalize their input (pre-norm) instead of the sum (post-norm)."""
    return bool(model.family.parts) and model.family.parts[0].name.startswith("norm before")


def _tables(model: Explorer) -> str:
    has, width = model.capabilities, model.word_table.shape[1]
    tables = [f"{has.vocab_size:,} pieces"]
    tables += [f"{len(model.position_table):,} positions"] if has.positions else []
    tables += [f"{len(model.segment_table)} segments"] if has.segments else []
    wider = f", then to {has.hidden_size}" if width != has.hidden_size else ""
    return f"{' + '.join(tables)} × {width}{wider}"


def _inner(model: Explorer) -> str:
    """The widths of the feed-forward block, and its activation function."""
    name = str(getattr(model.module.config, model.family.activation)).upper()
    paths = {part.name: part.path for part in model.family.parts}
    if not paths:
        return name
    first, last = (attrgetter(paths[f"feed-forward {way}"])(model.layers[0].module) for way in ("in", "out"))
    gated = "2 × " if first.out_features == 2 * last.in_features else ""  # one half is multiplied by the other
    return f"{first.in_features} → {gated}{last.in_features} → {last.out_features}, {name}"


def _heads(model: Explorer) -> Iterator[Block]:
    """The heads on the last hidden state for which the file has weights."""
    family, has, own = model.family, model.capabilities, model.own_head
    if has.fill_mask:
        size = f"{has.hidden_size} → {has.vocab_size:,}, which is the word table again"
        yield Block("Masked LM", size, model.parameters_of(*family.masked_lm_head), "Fill-mask", "Guesses")
    if has.pooler:
        pooler = model.parameters_of(f"{family.encoder}.{family.pooler}")
        yield Block("Pooler", f"[CLS]: {has.hidden_size} → {has.hidden_size}, tanh", pooler, "Hidden states")
    if has.next_sentence:
        name = "Sentence order" if family.pair_order else "Next sentence"
        yield Block(name, f"{has.hidden_size} → 2", model.parameters_of(family.pair_head), "Next sentence", "This pair")
    if has.replaced:
        yield Block("Replaced pieces", f"{has.hidden_size} → 1", model.parameters_of(family.replaced_head), "Its own head")
    if own is not None:
        weights = sum(weight.numel() for weight in own.module.parameters())
        yield Block("Its own head", f"{own.task}: {len(own.labels) or 2} numbers", weights, "Its own head")
