"""The model by itself: its size, its parts and its configuration."""

from explorer.figures.charts import parameter_bars
from explorer.views.subject import Subject
from explorer.views.view import Content, View, chart, part, prose


class Summary(View):
    """The size of the model in one sentence."""

    name, question = "model/summary", "How large is it?"
    summary = prose(classes="caption")

    def compute(self, subject: Subject) -> Content:
        """Its layers, heads, dimensions and parameters."""
        model = subject.model.capabilities
        heads = [name for name, there in (("masked LM", model.fill_mask), ("next sentence", model.next_sentence)) if there]
        return {
            "summary": (
                f"**{model.layers}** layers × **{model.heads}** heads × **{model.hidden_size}** dimensions, "
                f"**{model.parameters:,}** parameters; pre-training heads: {' and '.join(heads) or 'none'}. "
                "Shared weights are counted once: the masked-LM decoder is the word embedding table."
            )
        }


class Parameters(View):
    """How many parameters each part has."""

    name, question = "model/parameters", "Where are its parameters?"
    width = 6
    bars = chart("Parameters by part", height=460)

    def compute(self, subject: Subject) -> Content:
        """A bar for each part."""
        return {"bars": parameter_bars(subject.model.parameters_by_part())}


class Configuration(View):
    """The settings in the model's config.json."""

    name, question = "model/configuration", "How is it configured?"
    width = 5
    table = part("frame", columns=["setting", "value"], max_height=460, label="Configuration (config.json)", wrap=False)

    def compute(self, subject: Subject) -> Content:
        """A row for each setting."""
        model = subject.model
        config = model.module.config.to_diff_dict() | {"max_position_embeddings": model.module.config.max_position_embeddings}
        return {"table": [[key, str(value)] for key, value in sorted(config.items())]}


class ModuleTree(View):
    """The modules of PyTorch that the model consists of."""

    name, question = "model/modules", "What are its parts called?"
    folded = "Module tree, with the names that transformers gives the parts"
    tree = part("code", lines=20, max_lines=40)

    def compute(self, subject: Subject) -> Content:
        """The tree as PyTorch prints it."""
        return {"tree": str(subject.model.module)}
