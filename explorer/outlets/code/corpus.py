"""Corpus: the nearest tokens of many sentences."""

from typing import Any

from explorer.outlets.code.names import Names
from explorer.outlets.code.script import script
from explorer.views.corpus.search import STATE
from explorer.views.corpus.source import BUILT_IN
from explorer.views.subject import Subject

TEXTS = """
    with open("assets/corpus/ewt.conllu", encoding="utf-8") as file:  # Universal Dependencies English EWT, CC BY-SA 4.0
        texts = [line.removeprefix("# text = ").strip() for line in file if line.startswith("# text = ")]
"""


def search(view: Any, subject: Subject) -> str:
    """The cosines of a token to all tokens of the built-in corpus; '' for a file, which stays with the page."""
    if view.source != BUILT_IN:
        return ""
    names, query = Names.of(subject), view.query(subject)
    by_state = view.compare == STATE
    imports, made = ("", f"return outputs.hidden_states[{query.layer}][0], inputs") if by_state else _handed_on(names, query)
    untyped = names.untyped().replace("\n", "\n    ")
    texts = ", ".join(repr(text) for text in names.texts(subject.text_a, *([subject.text_b] if subject.text_b else [])))
    body = f"""
def vectors_of(*texts):  # [tokens, size]: {"a hidden state" if by_state else "what the head hands on"}
    inputs = {names.tokenized("*texts")}{untyped}
    outputs = model(**inputs, output_hidden_states=True{"" if by_state else ", output_attentions=True"})
    {made}
vector = vectors_of({texts})[0][{query.token}]
found = []
for text in texts:
    vectors, inputs = vectors_of(text)
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    alike = torch.cosine_similarity(vectors, vector[None]).tolist()
    found += [(alike[token], pieces[token], text) for token in range({_span(subject)})]
nearest = sorted(found, key=lambda one: -one[0])[:{view.limit}]
cosines = [cosine for cosine, _, _ in nearest]
for cosine, piece, text in nearest:
    print(f"{{cosine:.3f}}", piece, "|", text)"""
    return script(view.question, names.opened(eager=not by_state), TEXTS, imports, names.unnormed, body)


def _span(subject: Subject) -> str:
    """Which tokens count: all of them when one is searched for that the tokenizer added."""
    return "len(pieces)" if subject.trace.encoding.sequences[subject.token] < 0 else "1, len(pieces) - 1"


def _handed_on(names: Names, query: Any) -> tuple[str, str]:
    """What has to be imported, and the lines that weight the values of a head: [tokens, size]."""
    lines = [line.strip() for line in names.heads_of.strip("\n").splitlines()]
    imports = [line for line in lines if line.startswith("from ")]
    body = [f"hidden, layer = outputs.hidden_states[{query.layer}], layers[{query.layer}]"]
    body += [line for line in lines if not line.startswith("from ")]
    body += [f"return outputs.attentions[{query.layer}][0, {query.head}] @ value[0, {query.head}], inputs"]
    return "\n".join([*imports, names.layers]), "\n    ".join(body)


CODE = {"corpus/search": search}
