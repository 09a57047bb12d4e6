"""The origin of the model, and its cost."""

from collections.abc import Sequence
from typing import Any

from explorer.bert import plausible
from explorer.bert.checkpoints import BUNDLED
from explorer.bert.explorer import Explorer
from explorer.bert.hub import Place
from explorer.ui.pictures.strip_table import Row, facts
from explorer.ui.subject import Subject
from explorer.ui.view import Content, View, max_error, part, prose

MEGA = 1e6
MOST_NAMED = 4
WORDS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}


class Origin(View):
    """The files from which the model was loaded."""

    name, question = "model/origin", "Where does this model come from?"
    width = 5
    table = part("strips", classes="facts")

    def compute(self, subject: Subject) -> Content:
        model, checkpoint = subject.model, subject.model.checkpoint
        kind = "bundled with BERT Explorer" if checkpoint.name == BUNDLED else "a folder of this machine"
        rows = [("family", model.family.model_type), ("came from", "the Hugging Face hub" if checkpoint.from_hub else kind)]
        if checkpoint.from_hub:
            place = Place.of(checkpoint.name)
            rows += [("model card", f"https://huggingface.co/{place.id}"), ("commit", checkpoint.folder.name)]
            rows += [("revision", place.revision)] if place.revision else []
        written = [WORDS[dtype] for dtype in plausible.dtypes(checkpoint).split(", ") if dtype]
        rows += [
            ("written in its file as", ", ".join(written) or "a file of PyTorch, whose code is never run"),
            ("computed here in", _device(model)),
            ("unused weights", _named(model.ignored)),
            ("code that came with it", "never run"),
        ]
        return {"table": facts(("where it comes from", "of this model"), rows)}


class Cost(View):
    """The cost of running the model on the input."""

    name, question = "model/cost", "What does running this model take?"
    table = part("strips", classes="facts")

    def compute(self, subject: Subject) -> Content:
        """Memory and multiplications, for the input and for the longest text that fits."""
        model, has, tokens = subject.model, subject.model.capabilities, subject.trace.kept
        states, weights = (has.layers + 1) * tokens * has.hidden_size, has.layers * has.heads * tokens**2
        rows = [
            ["weights", f"{4 * has.parameters / MEGA:,.1f} MB", "4 bytes each, in float32"],
            [
                "hidden states",
                f"{4 * states / MEGA:,.2f} MB",
                f"4 bytes × {has.layers + 1} states × {tokens} tokens × {has.hidden_size}",
            ],
            [
                "attention weights",
                f"{4 * weights / MEGA:,.2f} MB",
                f"4 bytes × {has.layers} layers × {has.heads} heads × {tokens}²",
            ],
        ]
        for length in sorted({tokens, has.max_tokens}):
            for_all = model.multiplications(length) * length
            formula = f"{length} × (numbers in the matrices + q·k and weight · v over {length} tokens); FLOPs: twice as many"
            rows.append([f"multiplications for {length} tokens, in the layers", f"{for_all / 1e9:,.2f} billion", formula])
            if head := model.head_multiplications:
                formula = f"{length} × {head:,} numbers in the matrices of the head; fewer where only blanks are asked for"
                more = f"and {head * length / 1e9:,.2f} billion"
                rows.append(["… in the masked-LM head, a guess at every token", more, formula])
        return {"table": facts(("what it takes", "of this model", "how"), rows)}


def _device(model: Explorer) -> str:
    if model.device.type == "cpu":
        return "float32 on the processor"
    off = max_error(model.device_error)
    return f"float32: whole passes on {model.device} ({off} of a hidden state, beside the processor), the rest on the processor"


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(name[:60] for name in names[:MOST_NAMED])}{more}" if names else "none"


SIZES = ("layers", "width", "heads", "parameters", "time", "read in training")
MODELS = ("Transformer, base", "BERT", "RoBERTa, base", "the app’s own model")


def _paper_table(titles: Sequence[str], rows: Sequence[Row], label: str) -> dict[str, Any]:
    """A table whose first column has names and no title."""
    return facts(("", *titles), rows, label)


class OnPaper(View):
    """The size of this model beside those of the papers."""

    name, question = "model/on-paper", "How large is this model beside those of the papers?"
    table = part("strips", classes="facts", height=520)
    sources = prose(classes="caption")

    def compute(self, subject: Subject) -> Content:
        has = subject.model.capabilities
        sizes = (str(size) for size in (has.layers, has.hidden_size, has.heads))
        own = ["this model", *sizes, f"{has.parameters / MEGA:,.1f} million", "", ""]
        return {
            "table": _paper_table(SIZES, [Row(own, strong=True), *map(Row, PAPERS)], "this model beside those of the papers"),
            "sources": "Transformer: Vaswani et al. 2017, table 3 and section 5 (an encoder and a decoder with that number of "
            "layers each; it translates). BERT: Devlin et al. 2019, sections 3 and A.2. bert-base-uncased has 109,482,240 "
            "parameters with its pooler, and 109,514,298 with its masked-LM head instead. [Its guesses beside this model's]"
            "(bx/guide/models#bert-base-beside-the-bundled-model).",
        }


class Recipe(View):
    """The settings with which the papers' models and the bundled one were trained."""

    name, question = "model/recipe", "With which settings were these models trained?"
    table = part("strips", classes="facts", height=640)
    sources = prose(classes="caption")

    def compute(self, subject: Subject) -> Content:
        return {
            "table": _paper_table(MODELS, [Row(row) for row in RECIPES], "how the models were trained"),
            "sources": "Transformer: Vaswani et al. 2017, sections 5.2 to 5.4; its rate at step *s* is "
            "1/√d · min(1/√s, s/4,000¹·⁵) with d = 512, highest at step 4,000. BERT: Devlin et al. 2019, section A.2. "
            "RoBERTa: Liu et al. 2019, section 2 and the hyperparameters in its appendix. The app's own: its model card, in the "
            "folder of the weights; it was trained in ten runs. Adam keeps a running mean of each gradient (β₁) and of its "
            "square (β₂). Fine-tuning needs little of that: batches of 16 or 32, a rate of 5e-5, 3e-5 or 2e-5, and 2 to 4 rounds "
            "(Devlin et al., section A.3).",
        }


RECIPES = (
    (
        "loss",
        "cross-entropy, smoothed by 0.1",
        "cross-entropy of blanks + of the pair",
        "cross-entropy of blanks",
        "as BERT, and a teacher's",
    ),
    ("optimizer", "Adam", "Adam", "Adam", "AdamW"),
    ("β₁, β₂", "0.9, 0.98", "0.9, 0.999", "0.9, 0.98", "0.9, 0.98"),
    ("highest rate", "7e-4", "1e-4", "6e-4", "1.5e-4 to 6e-4"),
    ("warm-up", "4,000 steps", "10,000 steps", "24,000 steps", "30 to 300 steps"),
    ("then", "falls as 1 ÷ √step", "falls in a line to 0", "falls in a line to 0", "falls in a line to 0"),
    ("weight decay", "none", "0.01", "0.01", "0.01"),
    ("dropout", "0.1", "0.1", "0.1", "0.1 in the last run, none before"),
    ("batch", "25,000 pieces of each language", "256 texts of up to 512 pieces", "8,000 texts", "2,048 to 65,536 pieces"),
    ("steps", "100,000", "1,000,000", "500,000", "44,639"),
    ("between the matrices", "ReLU", "GELU", "GELU", "GELU"),
)
_PAIRS = "4.5 million pairs of sentences"
_TEXTS = "BooksCorpus and English Wikipedia, 3,300 million words"
PAPERS = (
    ("Transformer, base", "6 + 6", "512", "8", "65 million", "12 hours, 8 GPUs", _PAIRS),
    ("Transformer, big", "6 + 6", "1024", "16", "213 million", "3.5 days, 8 GPUs", _PAIRS),
    ("BERT-base", "12", "768", "12", "110 million", "4 days, 16 TPU chips", _TEXTS),
    ("BERT-large", "24", "1024", "16", "340 million", "4 days, 64 TPU chips", _TEXTS),
)
