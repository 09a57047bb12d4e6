"""Tokens: what is read, and what is added up for each token."""

from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject
from explorer.ui.view import View


def pieces(view: View, subject: Subject) -> str:
    """The pieces with their numbers."""
    names = Names.of(subject)
    opening = names.opened().splitlines()
    made = names.encoded(subject.text_a, subject.text_b).replace(
        ", return_tensors", ", return_offsets_mapping=True, return_tensors"
    )
    return script(
        view.question,
        "\n".join(line for line in opening if not line.startswith(names.at)),  # no model is needed to cut a text
        made,
        """
        ids = inputs["input_ids"][0].tolist()
        tokens = tokenizer.convert_ids_to_tokens(ids)
        segments = inputs["token_type_ids"][0].tolist() if "token_type_ids" in inputs else [0] * len(ids)
        attention_mask = inputs["attention_mask"][0].tolist()
        offsets = inputs["offset_mapping"][0].tolist()  # the characters [start, end) that each token stands for
        for position, row in enumerate(zip(tokens, ids, segments, attention_mask, offsets)):
            print(position, *row)
        """,
    ).replace(f", {names.model.family.pretraining_class}", "")


def embeddings(view: View, subject: Subject) -> str:
    """The parts whose sum is hidden state 0."""
    names, family = Names.of(subject), subject.model.family
    at, ids = f"{names.encoder}.{family.embeddings}", 'inputs["input_ids"]'
    lines = [f"embeddings = {at}", f"ids = {ids}", f'added = {{"token": embeddings.{family.word_embeddings}(ids)}}']
    if family.word_transformation and subject.model.module.config.trigram_input:
        lines += [
            'word, pad = added["token"], torch.nn.functional.pad  # each piece is mixed with its neighbours',
            "words = torch.cat([pad(word[:, 1:], (0, 0, 0, 1)), word, pad(word[:, :-1], (0, 0, 1, 0))], 2)",
        ]
    elif family.word_transformation:
        lines += ['words = added["token"]']
    if family.word_transformation and _transforms(subject):
        lines += [f'added["token"] = embeddings.{family.word_transformation}(words)']
    if family.position_embeddings:
        places = "torch.arange(ids.shape[1])[None]"
        if subject.model.first_position:
            places = f"embeddings.create_position_ids_from_input_ids(ids, {subject.model.first_position - 1})"
        lines += [f'added["position"] = embeddings.{family.position_embeddings}({places})']
    if len(subject.model.segment_table):
        segments = 'inputs["token_type_ids"]' if "token_type_ids" in subject.model.tokenizer.model_input_names else ""
        known = segments if segments and subject.model.capabilities.segments else "torch.zeros_like(ids)"
        lines += [f'added["segment"] = embeddings.{family.segment_embeddings}({known})']
    lines += ["total = sum(added.values())", f"normed = embeddings.{family.embeddings_norm}(total)"]
    lines += [f"hidden_state = {_projected(names)}  # hidden state 0"]
    numbers = """
        norms = {name: part[0].norm(dim=-1) for name, part in (added | {"sum": total, "LayerNorm": normed}).items()}
        cosines = {name: torch.cosine_similarity(total, part, dim=-1)[0] for name, part in added.items()}
        for name, lengths in norms.items():
            print(name, lengths.tolist())
    """
    return script(view.question, names.opened(), names.encoded(subject.text_a, subject.text_b), "\n".join(lines), numbers)


def _transforms(subject: Subject) -> bool:
    config = subject.model.module.config
    return bool(config.trigram_input or config.embedding_size != config.hidden_size)


def _projected(names: Names) -> str:
    """From the width of the embeddings to that of the layers."""
    path = names.model.family.projection
    *above, name = path.split(".")
    parent = names.model.encoder
    for part in above:
        parent = getattr(parent, part)
    return f"{names.encoder}.{path}(normed)" if name and hasattr(parent, name) else "normed"


CODE = {"tokens/pieces": pieces, "fill-mask/words": pieces, "tokens/embeddings": embeddings}
WITHOUT = {
    "tokens/vocabulary": "A search is made by hand, in the page.",
    "tokens/byte-pairs": "It counts pairs of letters, without a model.",
}
