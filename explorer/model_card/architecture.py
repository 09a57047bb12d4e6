"""The model itself: its size, its parts and its configuration."""

from explorer.model_card.pictures import parameter_bars
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.strip_table import FIRST_NUMBERS, Column, Row, facts, number_columns, strip_table
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, chart, part, prose, sentence

MOST_LABELS = 6


class Summary(View):
    """The size of the model in one sentence."""

    name, question = "model/summary", "How large is this model?"
    summary = prose(classes="caption")
    tuned = sentence(classes="caption")
    casing = sentence(optional=True)

    def compute(self, subject: Subject) -> Content:
        model = subject.model.capabilities
        pair = "sentence order" if subject.model.family.pair_order else "next sentence"
        there = {"masked LM": model.fill_mask, pair: model.next_sentence, "replaced pieces": model.replaced}
        heads = [name for name, has in there.items() if has]
        own = subject.model.own_head
        return {
            "summary": (
                f"**{model.layers}** layers × **{model.heads}** heads × **{model.hidden_size}** dimensions, "
                f"**{model.parameters:,}** parameters; pre-training heads: {' and '.join(heads) or 'none'}. "
                f"Shared weights are counted once: the masked-LM decoder is the word embedding table."
            ),
            "tuned": f"Fine-tuned for {own.task}{_labels(own.labels)}." if own else subject.model.unread_head,
            "casing": subject.model.casing,
        }


def _labels(labels: tuple[str, ...]) -> str:
    named = f": {', '.join(labels[:MOST_LABELS])}" if labels else ""
    return f"{named} and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else named


class Parameters(View):
    """The number of parameters of each part."""

    name, question = "model/parameters", "Where are the parameters?"
    width = 6
    bars = chart("Parameters by part", height=460)

    def compute(self, subject: Subject) -> Content:
        return {"bars": parameter_bars(subject.model.parameters_by_part())}

    def finding(self, subject: Subject) -> Finding:
        counts = subject.model.parameters_by_part()
        name, most = max(counts.items(), key=lambda item: item[1])
        total = sum(counts.values())
        return Finding(f"Of the model's {total:,} parameters, {whole_percent(most / total)} are in one part: {name}.")


class EmbeddingTables(View):
    """The first numbers of the first and last rows of the embedding tables."""

    name, question = "model/embedding-tables", "Which numbers do the embedding tables contain?"
    folded = "The embedding tables: first and last rows, first ten numbers"
    rows = part("strips", classes="compact", height=260)

    def compute(self, subject: Subject) -> Content:
        model = subject.model
        positions = {"position": model.position_table} if model.capabilities.positions else {}
        tables = {"word": model.word_table, **positions, "segment": model.segment_table}
        columns = [Column("table", "name", name="table"), Column("row", "number", name="row"), *number_columns()]
        rows = [
            Row([name, at, *table[at, :FIRST_NUMBERS]])
            for name, table in tables.items()
            for at in sorted({*range(min(2, len(table))), *range(max(len(table) - 2, 0), len(table))})
        ]
        return {"rows": strip_table(columns, rows, "rows of the embedding tables, counted from 0")}


class Configuration(View):
    """The settings in the model's config.json."""

    name, question = "model/configuration", "How is this model configured?"
    table = part("strips", classes="facts", height=460)

    def compute(self, subject: Subject) -> Content:
        model = subject.model
        config = model.module.config.to_diff_dict() | {"max_position_embeddings": model.module.config.max_position_embeddings}
        rows = [[key, str(value), MEANINGS.get(key, "")] for key, value in sorted(config.items())]
        return {"table": facts(("setting in config.json", "value", "meaning"), rows)}


class ModuleTree(View):
    """The modules of PyTorch that the model consists of."""

    name, question = "model/modules", "What are the model's parts called?"
    folded = "Module tree, with the names that transformers gives the parts"
    tree = part("code", lines=20, max_lines=40)

    def compute(self, subject: Subject) -> Content:
        return {"tree": str(subject.model.module)}


_DROPPED = "share of numbers set to 0 while layers are trained, in Fine-tune too; none are when a text is read"
_NO_DROPPED = "share of attention weights set to 0 in training; this app sets none"

MEANINGS = {
    "architectures": "the class of transformers that it was saved from",
    "attention_bias": "whether the matrices of the attention have a bias",
    "attention_dropout": _NO_DROPPED,
    "attention_probs_dropout_prob": _NO_DROPPED,
    "activation": "the function between the two matrices of the feed-forward part",
    "classifier_dropout": f"before a classifier: {_DROPPED}",
    "dim": "numbers in the vector of a token",
    "dropout": _DROPPED,
    "embedding_size": "numbers in the vector of a piece, before it is made as wide as the layers",
    "hidden_act": "the function between the two matrices of the feed-forward part",
    "hidden_activation": "the function between the two matrices of the feed-forward part",
    "hidden_dim": "numbers between the two matrices of the feed-forward part",
    "hidden_dropout_prob": f"after every matrix: {_DROPPED}",
    "hidden_size": "numbers in the vector of a token",
    "id2label": "the names of the labels of its own head",
    "initializer_range": "standard deviation of the weights before training",
    "inner_group_num": "layers in a group that shares weights",
    "intermediate_size": "numbers between the two matrices of the feed-forward part",
    "intra_bottleneck_size": "numbers in a token's vector inside a layer",
    "label2id": "the places of the labels of its own head",
    "layer_norm_eps": "what LayerNorm adds so as not to divide by 0",
    "layer_types": "which layers look everywhere, and which in a window",
    "local_attention": "tokens that a layer with a window can see",
    "max_position_embeddings": "places that it can tell apart: no text is longer",
    "model_type": "the family",
    "n_heads": "heads in a layer",
    "n_layers": "layers",
    "norm_eps": "what LayerNorm adds so as not to divide by 0",
    "num_attention_heads": "heads in a layer",
    "num_feedforward_networks": "feed-forward parts in a layer",
    "num_hidden_groups": "groups of layers with weights of their own",
    "num_hidden_layers": "layers",
    "pad_token_id": "the id of the token that fills up a batch",
    "problem_type": "whether labels exclude each other",
    "rope_parameters": "how fast queries and keys turn with their place",
    "tie_word_embeddings": "whether the masked-LM decoder is the word table",
    "transformers_version": "the release of transformers that saved it",
    "type_vocab_size": "segments that it can tell apart, A and B",
    "vocab_size": "pieces that it knows",
}
