"""Values that nobody means well with, and values that bring a call far."""

from hypothesis import strategies as st

SCRIPT = "<img src=x onerror=alert(1)>"
SENTENCES = ["the man went to the [MASK] .", "he bought milk", "it was happy and she was sad", "dog", "a cat | b\nthe dog | c"]
TEXTS = [
    *("", " ", "\n", "\x00", "\ufeff", "\ud800", "half \udfff a character", "a\x00b\x1b[31m", "\u202eelif", "e\u0301" * 50),
    *(SCRIPT, f"{SCRIPT} [MASK]", "${alert(1)}", "{{7*7}}", "{0} %s %n", "=1+1", "<b>bold</b>\u2028", "javascript:alert(1)"),
    *("🥛🥛🥛", "مرحبا بالعالم", "中文 [MASK] 字", "[MASK]", "[MASK] " * 100, "[CLS] [SEP] [PAD]", "##ing", "." * 300),
    *("../../../../etc/passwd", "/etc/passwd", "~root", "http://localhost/", "nobody/nothing", "-1", "1e999", "NaN", "9" * 5000),
    *("word " * 600, "x" * 100_000, "a | b\n" * 200, "a\n" * 3000, "|", "\t", '"', "bert-l6-h384-uncased", "None"),
]
NUMBERS = [0, -1, 1, 2, 7, 1.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"), -float("inf"), 2**31, 2**63, -(2**64), 10**400]
FILES = [
    {"path": path, "meta": {"_type": "gradio.FileData"}, **more}
    for path in ("/etc/passwd", "../../../etc/passwd", "/proc/self/environ", "", "\x00", "http://localhost:1/x")
    for more in ({}, {"url": "http://localhost:1/x", "orig_name": SCRIPT, "size": -1, "mime_type": SCRIPT})
]
SHEETS = [
    {"headers": ["a"], "data": [[1]], "metadata": None},
    {"headers": [SCRIPT] * 4, "data": [[SCRIPT, None, {}, []]] * 3, "metadata": {"styling": 1}},
    {"headers": ["A", "B"], "data": [["a"], ["a", "b", "c"]]},
    {"headers": None, "data": None},
    {"headers": [], "data": [[]], "metadata": None},
]


def any_of(values):
    """One of some values, which may be so long that hypothesis should not write them down."""
    return st.integers(0, len(values) - 1).map(lambda place: values[place])


THERE = "{there}"
"""What stands in a name for a file or a folder of the machine."""
_part = r"(a|b|main|models|runs|tmp|text|csv|buckets|refs|C:|\.\.|\.|~|\{there\})"
_path = rf"(/|\./|\.\./|//|~/|\\\\localhost\\)?({_part}/){{0,3}}({_part}|etc/passwd|proc/self/environ|usr/bin/env|\.ssh/id_rsa)?"
_scheme = r"(http://localhost:1/|file://|hf://|hf://datasets/|zip://x::|s3://|x\.csv::)"
names = st.from_regex(rf"(({_part}/){{0,2}}{_part}[@/])?{_scheme}?{_path}", fullmatch=True)
"""What may be typed where a model, a revision or a data set is named: a place, before or after what the name is made of."""

texts = st.one_of(any_of(TEXTS), st.text(max_size=40), names)
numbers = st.one_of(any_of(NUMBERS), st.integers(), st.floats())
_plain = st.one_of(st.none(), st.booleans(), numbers, texts)
hostile = st.one_of(
    _plain,
    any_of(FILES + SHEETS),
    st.recursive(_plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3), max_leaves=8),
    any_of([[], {}, [[]], [[[]]] * 3, [None] * 3, ["a"] * 6000, {"__type__": "update", "value": SCRIPT, "visible": SCRIPT}]),
)
"""Whatever JSON can say, and a little more: NaN, infinity and numbers that no float holds."""


def hostile_like(value):
    """What is hostile and of the kind of a value, so that it is not refused at the door."""
    if isinstance(value, list):
        return st.lists(_plain, max_size=4)
    return numbers if isinstance(value, int | float) and not isinstance(value, bool) else texts


sentences = st.sampled_from(SENTENCES)
layers = st.integers(-1, 3)
examples = st.lists(st.tuples(st.sampled_from(["good", "bad", "sad 1", "happy 2"]), sentences).map(list), min_size=4, max_size=12)
ARGUMENTS = {
    **dict.fromkeys(
        ("text", "text_a", "text_b", "question", "query", "word"), sentences | st.sampled_from(["", "dog", "happy", "##ing"])
    ),
    **dict.fromkeys(("layer", "head", "layers_trained", "position", "state"), layers),
    **dict.fromkeys(("top_k", "limit", "neighbors", "steps", "epochs", "seeds", "batch_size", "seed"), st.integers(0, 5)),
    "texts": st.lists(sentences, min_size=1, max_size=5),
    "heads": st.lists(st.tuples(layers, layers).map(list), max_size=3),
    "cut": st.lists(st.tuples(layers, layers, layers, layers).map(list), max_size=3),
    "examples": examples.map(lambda rows: [[f"{text} {label}", label] for label, text in rows]),
    "method": st.sampled_from(["pca", "tsne", "integrated_gradients", "gradient_x_input", "occlusion"]),
    "pooling": st.sampled_from(["cls", "mean", "pooler"]),
    "dimensions": st.integers(2, 3),
    "min_dist": st.floats(0, 0.99),
    "name": st.sampled_from(
        ["attention/head", "fill-mask/lens", "tokens/pieces", "hidden/one-layer", "side-by-side/pair", "none"]
    ),
    "settings": st.dictionaries(st.sampled_from(["layer", "head", "token", "off", "look", "top_p"]), layers, max_size=2),
    "learning_rate": st.sampled_from([0.01, 0.1, 1.0]),
}
"""What the arguments of endpoints may be, by their names; the first value of each is the one to begin with."""
FIRST = {
    **{"text": SENTENCES[0], "text_a": SENTENCES[0], "text_b": SENTENCES[1], "query": "do*", "word": "dog", "epochs": 1},
    **{"texts": SENTENCES[:4], "heads": [[1, 1]], "steps": 3, "seeds": 1, "head": 1},
    **{"name": "attention/head", "settings": {"layer": 1}},
    "examples": [[f"{word} {number}", word] for number in range(6) for word in ("happy", "sad")],
}
ON_THE_PAGE = {
    **{"text-a": SENTENCES[0], "text-b": SENTENCES[1], "fine-tune-epochs": 1, "fine-tune-source": "Typed here"},
    **{"fill-mask-steps": 5, "next-sentence-steps": 5, "projection-sentences": "\n".join(SENTENCES[:4]), "fill-mask-word": "dog"},
}
"""What stands in some controls, so that what takes long does not."""


def of_control(component):
    """What somebody may choose in a control, by its entry in the page's configuration."""
    kind, props = component["type"], component["props"]
    if props.get("choices"):
        one = st.sampled_from([choice[1] for choice in props["choices"] if choice[1] != "umap"])  # which compiles for minutes
        return st.lists(one, max_size=3) if kind == "checkboxgroup" or props.get("multiselect") else one
    return {
        "textbox": sentences | st.sampled_from(["", "dog", "5"]),
        "checkbox": st.booleans(),
        "checkboxgroup": st.lists(st.integers(0, 3), max_size=3),
        "slider": st.integers(int(props.get("minimum") or 0), int(props.get("maximum") or 0) or 1),
        "number": st.integers(-1, 9),
        "browserstate": st.lists(sentences, max_size=3),
    }.get(kind, st.just(props.get("value")))
