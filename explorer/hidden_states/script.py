"""Scripts of the Hidden states tab: similarity, norms and movement, one word in many contexts, whole sentences."""

from typing import Any

from explorer.analysis.similarity import SPACES
from explorer.hidden_states.layers import DRIFT, NORM, STEP, VECTORS
from explorer.ui.scripts.names import Names, with_hidden_states
from explorer.ui.scripts.script import script, written
from explorer.ui.subject import Subject
from explorer.ui.view import View


def one_layer(view: Any, subject: Subject) -> str:
    """The vectors of one hidden state, and how alike they are."""
    at = subject.selection.layer
    vectors = f"vectors = hidden_states[{at}]  # [tokens, hidden]; hidden state 0 is the embedding output"
    alike = """
        unit = vectors / vectors.norm(dim=1, keepdim=True)
        similarity = unit @ unit.T  # [tokens, tokens] cosines
        print(similarity)
    """
    outliers = """
        means = vectors.mean(0)
        apart = (means - means.mean()).abs()
        outliers = (apart > 3 * means.std(correction=0)).nonzero()[:, 0].tolist()
        print("outlier dimensions, from 0:", outliers, means[outliers])
    """
    read = with_hidden_states(Names.of(subject), subject)
    return script(view.question, *read, vectors, outliers if view.look == VECTORS else alike)


def every_layer(view: Any, subject: Subject) -> str:
    """One number of every token at every hidden state."""
    made = {
        STEP: "1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:-1], dim=-1)  # [layers, tokens]",
        DRIFT: "1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:1], dim=-1)  # [layers, tokens]",
        NORM: "hidden_states.norm(dim=-1)  # [layers + 1, tokens]",
    }[view.measure]
    show = "for token, numbers in zip(tokens, values.T):\n    print(token, numbers)"
    return script(view.question, *with_hidden_states(Names.of(subject), subject), f"values = {made}", show)


def pooled(view: View, subject: Subject) -> str:
    """The last hidden state of the first token, and the pooler's output."""
    if subject.model.why_not("pooler"):
        return ""
    names = Names.of(subject)
    made = f"first = hidden_states[-1, 0]\npooled = {names.pooled('hidden_states[-1:]')}[0]"
    read = with_hidden_states(names, subject)
    return script(view.question, *read, made, "print(pooled[:8], torch.cosine_similarity(first, pooled, dim=0))")


def one_word(view: Any, subject: Subject) -> str:
    """The cosines between one word's vectors in its contexts, at every hidden state."""
    names = Names.of(subject)
    texts, labels = view._texts(subject)
    word, contexts = view._word_and_contexts(subject, texts, labels)
    told_apart = len(set(contexts.senses)) > 1
    sense = "\n            senses.append(label)" if told_apart else ""
    rows = written("texts", list(zip(names.texts(*texts), labels, strict=True)) if told_apart else names.texts(*texts))
    each = "text, label" if told_apart else "text"
    body = f"""
word, vectors{", senses" if told_apart else ""} = {word!r}, []{", []" if told_apart else ""}
for {each} in texts:
    inputs = {names.tokenized("text, return_offsets_mapping=True")}
    offsets = inputs.pop("offset_mapping")[0].tolist(){names.untyped().replace(chr(10), chr(10) + "    ")}
    states = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)[:, 0]
    for found in re.finditer(rf"(?<!\\w){{re.escape(word)}}(?!\\w)", text, re.IGNORECASE):
        pieces = [i for i, (start, end) in enumerate(offsets) if start < end and start < found.end() and end > found.start()]
        if pieces:
            vectors.append(states[:, pieces].mean(1)){sense}
vectors = torch.stack(vectors, 1)  # [layers + 1, contexts, hidden]
unit = vectors / vectors.norm(dim=-1, keepdim=True)
cosines = unit @ unit.transpose(1, 2)  # [layers + 1, contexts, contexts]
pairs = ~torch.eye(len(unit[0]), dtype=torch.bool)"""
    alike = "alike = cosines[:, pairs].mean(1)  # [layers + 1]: a static vector would have 1\nprint(alike)"
    senses = """
        same = torch.tensor([[one == other for other in senses] for one in senses])
        alike, different = cosines[:, pairs & same].mean(1), cosines[:, ~same].mean(1)  # [layers + 1] each
        print("in one sense", alike, "in two", different)
    """
    return script(view.question, names.opened(), rows, names.unnormed, body, senses if told_apart else alike)


def sentence_vectors(names: Names, texts: list[str], pooling: str, at: int) -> list[str]:
    """Lines that compute `vectors` [texts, hidden]."""
    pool = {"cls": f"states[{at}][0, 0]", "mean": f"states[{at}][0].mean(0)", "pooler": f"{names.pooled('states[-1]')}[0]"}[
        pooling
    ]
    read = names.of_each_text("vectors", pool)
    return [written("texts", names.texts(*texts)), f"{read}\nvectors = torch.stack(vectors)  # [texts, hidden]"]


def sentences(view: Any, subject: Subject) -> str:
    """The cosines between sentences."""
    names = Names.of(subject)
    texts, at, _ = view._read(subject)
    space = {
        SPACES[0]: "",
        SPACES[1]: "vectors = vectors - vectors.mean(0)",
        SPACES[2]: """
            vectors = (vectors - vectors.mean(0)).numpy()  # whitened: Su et al. 2021
            left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
            kept = min(len(vectors) // 2, (sizes > 1e-5 * sizes.max()).sum())
            vectors = torch.tensor(left[:, :kept])
        """,
    }[view.space]
    alike = """
        unit = vectors / vectors.norm(dim=1, keepdim=True)
        similarity = unit @ unit.T  # [texts, texts] cosines
        print(similarity)
    """
    return script(view.question, names.opened(), *sentence_vectors(names, texts, view.pooling, at), space, alike)


CODE = {
    "hidden/one-layer": one_layer,
    "hidden/every-layer": every_layer,
    "hidden/pooled": pooled,
    "hidden/word": one_word,
    "hidden/sentences": sentences,
}
