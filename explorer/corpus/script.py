"""Scripts of the Corpus tab: nearest tokens, what a head and a neuron do in many sentences, and surprisal."""

from typing import Any

from explorer.corpus.neurons import LINES
from explorer.corpus.search import STATE
from explorer.corpus.sentences import SHOWN
from explorer.corpus.source import BUILT_IN
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script
from explorer.ui.subject import Subject

EVERY = 7  # tokens of which one is masked
TEXTS = """
    with open(shipped("assets/corpus/sentences.conllu"), encoding="utf-8") as file:  # most are UD English EWT's, CC BY-SA 4.0
        texts = [line.removeprefix("# text = ").strip() for line in file if line.startswith("# text = ")]
"""


def search(view: Any, subject: Subject) -> str:
    """The cosines of a token to all tokens of the built-in corpus; '' for an uploaded file, which stays on the page."""
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
    """Which tokens count: all of them if the query is a token that the tokenizer added."""
    return "len(pieces)" if subject.trace.encoding.sequences[subject.token] < 0 else "1, len(pieces) - 1"


def _handed_on(names: Names, query: Any) -> tuple[str, str]:
    """The imports, and the lines that compute a head's output [tokens, size]."""
    lines = [line.strip() for line in names.heads_of.strip("\n").splitlines()]
    imports = [line for line in lines if line.startswith("from ")]
    body = [f"hidden, layer = outputs.hidden_states[{query.layer}], layers[{query.layer}]"]
    body += [line for line in lines if not line.startswith("from ")]
    body += [f"return outputs.attentions[{query.layer}][0, {query.head}] @ value[0, {query.head}], inputs"]
    return "\n".join([*imports, names.layers]), "\n    ".join(body)


def heads(view: Any, subject: Subject) -> str:
    """The mean weight of the chosen head by relative position, and on [CLS]; '' for a file."""
    if view.source != BUILT_IN:
        return ""
    names, chosen = Names.of(subject), subject.selection
    untyped = names.untyped().replace("\n", "\n    ")
    body = f"""
sums, counts, cls, tokens = torch.zeros(17), torch.zeros(17), 0, 0
for text in texts:
    inputs = {names.tokenized("text")}{untyped}
    attention = model(**inputs, output_attentions=True).attentions[{chosen.attention_layer}][0]
    weights = attention[{chosen.head_index}]  # [query, key]
    for place, offset in enumerate(range(-8, 9)):  # keys so far behind their query
        sums[place] += weights.diagonal(offset).sum()
        counts[place] += len(weights.diagonal(offset))
    cls, tokens = cls + weights[:, 0].sum(), tokens + len(weights)
mean_weights, mean_cls = sums / counts, cls / tokens
for offset, weight in zip(range(-8, 9), mean_weights.tolist()):
    print(f"{{offset:+d}}: {{weight:.1%}}")
print(f"[CLS]: {{mean_cls:.1%}}")"""
    return script(view.question, names.opened(eager=True), TEXTS, body)


def neurons(view: Any, subject: Subject) -> str:
    """The tokens on which a neuron is most active; '' for a file."""
    if view.source != BUILT_IN:
        return ""
    names, shown = Names.of(subject), view.result(subject)
    untyped = names.untyped().replace("\n", "\n    ")
    run = shown.layer if subject.model.family.shared_layers else 0
    body = f"""
{names.layers}
read = []  # what W2 reads: the neurons after the activation function
watched = layers[{shown.layer}].{subject.model.family.out_of_neurons}
watched.register_forward_pre_hook(lambda module, given: read.append(given[0].flatten(0, -2)))
found = []
for text in texts:
    inputs = {names.tokenized("text")}{untyped}
    read.clear()
    model(**inputs)
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    active = read[{run}][:, {shown.neuron}].tolist()
    found += [(active[token], pieces[token], text) for token in range(1, len(pieces) - 1)]
strongest = sorted(found, key=lambda one: -one[0])[:{LINES}]
activations = [activation for activation, _, _ in strongest]
for activation, piece, text in strongest:
    print(f"{{activation:.2f}}", piece, "|", text)"""
    return script(view.question, names.opened(), TEXTS, body)


def sentences(view: Any, subject: Subject) -> str:
    """The surprisal of every sentence, whichever are listed; '' for a file or without a masked-LM head."""
    if view.source != BUILT_IN or not subject.model.capabilities.fill_mask:
        return ""
    names = Names.of(subject)
    untyped = names.untyped().replace("\n", "\n    ")
    body = f"""
surprise = []  # bits, the mean of the hidden tokens of each sentence
for number, text in enumerate(texts):
    inputs = {names.tokenized("text")}{untyped}
    ids = inputs["input_ids"][0].clone()
    first = 1 + number % min({EVERY}, len(ids) - 2)
    hidden = torch.arange(first, len(ids) - 1, {EVERY})
    inputs["input_ids"][0, hidden] = tokenizer.mask_token_id
    logits = model(**inputs).{names.word_logits}[0, hidden]
    logs = logits.log_softmax(-1).gather(1, ids[hidden, None])
    surprise.append(-logs.mean().item() / math.log(2))
for bits, text in sorted(zip(surprise, texts), reverse=True)[:{SHOWN}]:
    print(f"{{bits:.1f}} bits", text)"""
    return script(view.question, names.opened(), TEXTS, body)


CODE = {"corpus/search": search, "corpus/heads": heads, "corpus/neurons": neurons, "corpus/sentences": sentences}
WITHOUT = {
    "corpus/words": "To find a word in every sentence takes more lines than to compare its vectors; search by meaning has them.",
    "corpus/layers": "Its probes train for longer than a script should; what it reads is what search by meaning reads.",
}
