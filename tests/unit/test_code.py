"""The Python of every view: it is run, and computes the numbers that the view shows."""

import contextlib
import copy
import io
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.analysis import contextuality
from explorer.analysis.attention import Choice, choose, top_p
from explorer.analysis.head_metrics import METRICS
from explorer.analysis.layer_maps import maps_of
from explorer.analysis.projection import MapSettings
from explorer.analysis.similarity import cosine_matrix, cosines, moved_to, norms
from explorer.attention.compute import rollout
from explorer.bert.checkpoints import BUNDLED
from explorer.bert.features import features, layer_features_in_steps
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.experiments.source import TYPED
from explorer.export import code, ways
from explorer.export.links import Place
from explorer.export.python_file import python
from explorer.fill_mask.lens import chosen_lens
from explorer.fill_mask.patching import ALIKE
from explorer.hidden_states.layers import DRIFT, NORM, STEP, VECTORS
from explorer.inside_head.compute.positions import sinusoids
from explorer.model_card.compute.weights import histogram, root_mean_square
from explorer.overview.run import selected_run
from explorer.projection.map import VOCABULARY, WORDS
from explorer.tabs import VIEWS
from explorer.techniques import ablation, attribution, filling, inside, lens, own_head, pseudo_likelihood, targets
from explorer.text.corpora import built_in, read_corpus
from explorer.text.lines import read_lines
from explorer.ui.attention_data import overview_of, telling_of, weights_of
from explorer.ui.says import each_word_hidden
from explorer.ui.subject import Selection, Subject
from tests.families import KINDS, TUNED, write_family, write_tuned

ROOT = Path(__file__).resolve().parents[2]
START = (ROOT / "explorer" / "ui" / "scripts" / "start.py").read_text("utf-8")
SHIPPED = "from importlib.util import find_spec\nfrom pathlib import Path\nimport sys\n"  # what finds the app's files
SHIPPED += START[START.index("def shipped") : START.index("\n\n\nMODEL")]
CORPUS_FILE = ROOT / "assets" / "corpus" / "sentences.conllu"
TEXTS = ("The man went to the [MASK] because he was happy.", "He bought milk.")
SHORT = ("He or he [MASK] happy.", "He was.")
HOSTILE = (
    'it\'s "quoted"; \'\'\'three\'\'\' and """three"""',
    "a line\nand another\r\twith \\n \\ and {braces} ${alert(1)} %s \u2028 {0}",
    "emoji 😀 </script><b> #comment \\",
    "');import os;os.system('x')#",
)
CHOSEN = Selection(layer=2, head=2, token=3, picked=True)
MOST_LINES = 36  # of a script, without lists, what finds the app's files, and empty ones: a screen; most are shorter than 25
MORE_WHERE_POSITIONS_TURN = 8  # lines for the layers of ModernBERT, which need more than a hidden state
MOST_OF_THE_WHOLE = 52  # lines where the whole model is taken apart, whatever is changed in it


@pytest.fixture(scope="module", autouse=True)
def loaded(assets_with_few_sentences):
    """Loads each model once, and hands out copies, since some scripts hook into theirs; scripts run where assets/ is."""
    kept, patch = {}, pytest.MonkeyPatch()
    load = transformers.PreTrainedModel.from_pretrained.__func__

    def once(cls, name, **given):
        key = (cls, name, str(sorted(given.items())))
        if key not in kept:
            kept[key] = load(cls, name, **given)
        return copy.deepcopy(kept[key])

    patch.setattr(transformers.PreTrainedModel, "from_pretrained", classmethod(once))
    patch.chdir(assets_with_few_sentences.parent)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def assets_with_few_sentences(tmp_path_factory, few_sentences):
    """The folder assets/ with the few sentences that the views of the corpus read."""
    folder = tmp_path_factory.mktemp("app") / "assets"
    (folder / "corpus").mkdir(parents=True)
    for entry in (ROOT / "assets").iterdir():
        if entry.name != "corpus":
            (folder / entry.name).symlink_to(entry)
    blocks = CORPUS_FILE.read_text("utf-8").strip().split("\n\n")
    kept = [block for block, one in zip(blocks, built_in().sentences, strict=True) if one in few_sentences.sentences]
    file = folder / "corpus" / CORPUS_FILE.name
    file.write_text("\n\n".join(kept) + "\n\n", "utf-8")
    assert read_corpus(file).sentences == few_sentences.sentences
    return folder


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """A tiny model of every kind."""
    place = tmp_path_factory.mktemp("families")
    return {name: explorer.load(str(write_family(place / name, name))) for name in KINDS}


def run(script):
    """What a script leaves behind."""
    assert "import explorer" not in script
    assert "from explorer" not in script
    found, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, "script", "exec"), found)
    assert printed.getvalue().strip(), "a script prints something"
    return found


def made(view, subject):
    """The script of a view, its lines counted."""
    script = code.of(view, subject)
    own = [line for line in script.splitlines() if line not in SHIPPED.splitlines()]
    lines = [line for line in own if line.strip() and not line.startswith(("    '", '    "', "    ("))]
    most = MOST_OF_THE_WHOLE if view.name == "overview/routes" else MOST_LINES
    assert len(lines) <= most + (MORE_WHERE_POSITIONS_TURN if "def run(" in script else 0), script
    return script


def subject_of(model, texts=TEXTS, selection=CHOSEN):
    """An input to a model."""
    return Subject.of(model.trace(*texts), selection)


def same(found, expected, most=1e-5):
    """Within 1e-5 of the size of the numbers."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0) <= most * max(1.0, np.abs(expected).max(initial=0))


# What each view shows, by the names of the script's variables.


def _pieces(view, subject):
    encoding = subject.trace.encoding
    return {"ids": encoding.ids, "segments": encoding.segments, "attention_mask": encoding.attention_mask}


def _embeddings(view, subject):
    parts = inside.embedding_parts(subject.trace)
    expected = {"total": parts.total[None], "normed": parts.normed[None], "hidden_state": subject.trace.states[:1]}
    return expected | {
        "norms": np.stack([norms(part) for part in (*parts.added.values(), parts.total, parts.normed)]).T,
        "cosines": np.stack([cosines(parts.total, part) for part in parts.added.values()]).T,
    }


def _head(view, subject):
    part = Choice(view.specials, view.direction, view.group, view.top_p / 100)
    return {"weights": choose(weights_of(subject, view.average, view.measure), subject.trace.encoding, part).weights}


def _metrics(view, subject):
    seen = overview_of(subject).metrics
    return {"metrics": np.stack([seen[metric.key] for metric in METRICS], -1)}


def _attention(subject):
    return np.stack([subject.trace.attention(layer) for layer in range(subject.model.capabilities.layers)])


def _rollout(view, subject):
    flows = list(rollout(_attention(subject)))
    return {"matrix": flows[view.up_to - 1], "sources": np.stack([flow[subject.token] for flow in flows])}


def _several(view, subject):
    weights, _ = view._weights(subject)
    return {"weights": top_p(weights, view.mass / 100)}


def _dots(view, subject):
    token = subject.token if subject.selection.token is not None else telling_of(subject).query
    step = inside.head_step(subject.trace, subject.selection.attention_layer, subject.selection.head_index, token)
    scaled = np.where(step.weights == 0, -1e9, step.scaled)  # out of sight of a sliding window
    return {"dots": step.dots, "weights": step.weights, "output": step.output, "scaled": scaled}


def _layer(view, subject):
    layer, token, head = subject.selection.attention_layer, subject.token, subject.selection.head_index
    steps = {step.name: step.vector for step in inside.layer_steps(subject.trace, layer, token, head).steps}
    heads = subject.trace.heads(layer)
    expected = {"query": heads.query, "key": heads.key, "value": heads.value, "weights": heads.weights()}
    assert np.allclose(steps[f"hidden state {layer + 1}"], subject.trace.hidden_states[layer + 1, token], atol=1e-4)
    return expected | {"following": subject.trace.states[layer + 1]}


def _decoder(view, subject):
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    return {"causal": inside.causal_attention(subject.trace, layer, head)}


def _batch(view, subject):
    read = view.read_together(subject)
    expected = {"mask": read.attention_mask, "real": read.real}
    if read.real.all():
        return expected
    weights = [answers.weights for answers in view.answers(subject, read)]
    return expected | {"weights": np.stack(weights), "largest_change": [read.moved(True), read.moved(False)]}


def _positions(view, subject):
    table = subject.model.position_table
    places = np.arange(0, len(table), -(-len(table) // 128))
    waves = sinusoids(*table.shape)[places]
    expected = {"learned": table[places], "waves": waves}
    return expected | {"learned_alike": cosine_matrix(table[places]), "waves_alike": cosine_matrix(waves)}


def _one_layer(view, subject):
    vectors = subject.trace.hidden_states[subject.selection.layer]
    if view.look == VECTORS:
        return {"vectors": vectors, "outliers": sorted(place for place, _ in contextuality.outlier_dimensions(vectors, 10**6))}
    return {"similarity": cosine_matrix(vectors)}


def _every_layer(view, subject):
    states = subject.trace.hidden_states
    return {"values": {STEP: contextuality.steps, DRIFT: contextuality.drift, NORM: norms}[view.measure](states)}


def _pooled(view, subject):
    return {"first": subject.trace.hidden_states[-1, 0], "pooled": subject.trace.pooler_output()}


def _word(view, subject):
    _, contexts = view._word_and_contexts(subject, *view._texts(subject))
    within, between = contextuality.within_and_between(contexts.vectors, contexts.senses)
    expected = {"vectors": contexts.vectors, "alike": within}
    return expected if np.isnan(between).any() else expected | {"different": between}


def _sentences(view, subject):
    texts, at, _ = view._read(subject)
    return {"similarity": cosine_matrix(moved_to(features(subject.model, texts, at, view.pooling), view.space))}


def _guesses(view, subject):
    blanks = subject.trace.mask_positions
    found = subject.model.guesses(subject.trace.states[-1][blanks], blanks, view.top_k)
    return {
        "probabilities": [[one.probability for one in guess.candidates] for guess in found],
        "ids": [[one.id for one in guess.candidates] for guess in found],
    }


def _comparison(view, subject):
    logits = subject.model.masked_lm(subject.trace.states[-1][subject.blank])
    ids = [targets.piece_of(subject.model, word.strip())[0] for word in view.words.split(",") if word.strip()]
    return {"shares": logits.softmax(-1)[ids or logits.topk(2).indices.tolist()]}


def _together(view, subject):
    expected = {}
    for name, order in (("left_to_right", "left_to_right"), ("surest_first", "best_first")):
        steps = filling.fill_jointly(subject.trace, order)
        ids = [step.candidate.id for step in sorted(steps, key=lambda step: step.position)]
        expected[name] = [*ids, filling.log_probability(steps)]
    return expected


def _surprise(view, subject):
    found = view.result(subject)
    return {"positions": found.positions, "bits": found.bits, "ranks": found.ranks, "best": found.best_ids}


def _each_word(view, subject):
    found = each_word_hidden(subject)
    return {"positions": found.positions, "bits": found.bits, "ranks": found.ranks, "best": found.best_ids}


def _likelihoods(view, subject):
    lines = [line.strip() for line in view.sentences.splitlines() if line.strip()]
    return {"scores": finished(pseudo_likelihood.pseudo_likelihoods_in_steps(subject.model, lines))}


def _lens(view, subject):
    found = lens.lens(subject.trace, range(subject.trace.kept), tuned=chosen_lens(subject, view.reading))
    return {"ids": found.ids[..., 0], "probabilities": found.probabilities[..., 0], "final_ranks": found.final_ranks}


def _followed(view, subject):
    best = subject.model.masked_lm(subject.trace.states[-1][subject.token]).topk(2).indices.tolist()
    shares, ranks, logits = lens.follow(subject.trace, subject.token, best, chosen_lens(subject, view.reading))
    expected = {"probabilities": shares, "ranks": ranks}
    return expected | {"differences": logits - logits[:, -1:]} if view.against else expected


def _attribution(view, subject):
    target = view.target(subject)
    scores = attribution.attribute(subject.trace, target, view.method, int(view.steps), view.baseline)
    return {"scores": scores.scores, "occlusion": attribution.occlusion(subject.trace, target).scores}


def _heads(view, subject):
    target, off, cut = view.target(subject), subject.selection.off, subject.selection.cut
    expected = {"effects": finished(ablation.head_effects_in_steps(subject.trace, target))}
    if off or cut:
        vectors = ablation.intervene(subject.trace, off, cuts=cut)[[target.position]]
        expected["after"] = targets.shares_at(subject.model, target, vectors)[0]
    return expected


def _what_if(view, subject):
    question = view.asked(subject)
    now = before = question.before.states[-1][[question.target.position]]
    expected = {"before": targets.shares_at(subject.model, question.target, before)[0]}
    if subject.selection.is_changed:
        now = question.vector_after(subject)[None]
        expected["after"] = targets.shares_at(subject.model, question.target, now)[0]
    if question.target.foil is not None:
        expected["lead"] = targets.read_at(subject.model, question.target, now).logit[0]
    return expected


def _routes(view, subject):
    run = selected_run(subject)
    followed = view._followed(subject, run)
    return {"mixing": run.mixed.shares, "places": followed.shares}


def _patching(view, subject):
    found = view.result(subject)
    if found.target.foil is None:
        return {"probabilities": found.probabilities, "clean": found.clean[1], "bad": found.corrupted[1]}
    whole = {"differences": found.logits, "clean": found.clean[0], "bad": found.corrupted[0]}
    return whole if abs(found.clean[0] - found.corrupted[0]) < ALIKE else whole | {"recovered": found.recovered}


def _pair(view, subject):
    return {"logits": subject.model.next_sentence(subject.text_a, subject.text_b).logits}


def _pairs(view, subject):
    return {"logits": [subject.model.next_sentence(a, b).logits for a, b, *_ in view.pairs]}


def _map(view, subject):
    model = subject.model
    if view.source == VOCABULARY:
        ids = np.random.default_rng(view.seed).permutation(len(model.tokenizer))[:1500]
        states, layer = model.word_table[ids][None], 0
    elif view.source == WORDS:
        states, layer = subject.trace.hidden_states, view.layer
    else:
        texts, _ = read_lines(view.sentences)
        states = finished(layer_features_in_steps(model, texts, view.pooling))
        layer = min(view.layer, len(states) - 1)
    return {"points": maps_of(states, MapSettings("pca", view.dimensions)).at(states, layer).points}


def _side_guesses(view, subject):
    expected = {}
    for name, one in (("here", subject), ("there", view.other(subject))):
        (guess,) = one.model.guesses(one.trace.states[-1][[one.blank]], [one.blank], 6)
        expected[f"ids_{name}"] = [candidate.id for candidate in guess.candidates]
        expected[f"shares_{name}"] = [candidate.probability for candidate in guess.candidates]
    return expected


def _side_pair(view, subject):
    sides = (("here", subject), ("there", view.other(subject)))
    return {f"logits_{name}": one.model.next_sentence(one.text_a, one.text_b).logits for name, one in sides}


def _side_attention(view, subject):
    sides = (("here", subject), ("there", view.other(subject)))
    place = (subject.selection.attention_layer, subject.selection.head_index)
    return {f"weights_{name}": one.trace.attention(place[0])[place[1]] for name, one in sides}


def _side_states(view, subject):
    return {"apart": 1 - cosines(subject.trace.hidden_states, view.other(subject).trace.hidden_states)}


def _weights(view, subject):
    layers = subject.model.layer_weights
    expected = {"sizes": [[root_mean_square(layer[name]) for layer in layers if name in layer] for name in layers[-1]]}
    row, column = view.cell or (0, 0)
    column = min(column, len(layers) - 1)
    return expected | ({"counts": histogram(layers[column][list(layers[0])[row]]).counts} if view.cell else {})


def _search(view, subject):
    return {"cosines": [hit.cosine for hit in view.result(subject).hits]}


def _atlas(view, subject):
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    found = view.result(subject)
    return {"mean_weights": found.offsets[layer, head], "mean_cls": found.cls[layer, head]}


def _neurons(view, subject):
    return {"activations": [driver.activation for driver in view.result(subject).drivers]}


def _surprising(view, subject):
    return {"surprise": view.result(subject).by_sentence()}


SHOWN = {
    "tokens/pieces": _pieces,
    "tokens/embeddings": _embeddings,
    "attention/heads": lambda view, subject: {"attention": _attention(subject)},
    "attention/head": _head,
    "attention/metric": lambda view, subject: {"metric": overview_of(subject).metrics[view.metric]},
    "attention/metrics": _metrics,
    "attention/rollout": _rollout,
    "attention/several": _several,
    "overview/routes": _routes,
    "overview/what-if": _what_if,
    "attention/what-if": _what_if,
    "inside-head/dots": _dots,
    "inside-head/walk": _dots,
    "inside-head/layer": _layer,
    "inside-head/decoder": _decoder,
    "inside-head/batch": _batch,
    "inside-head/positions": _positions,
    "hidden/one-layer": _one_layer,
    "hidden/every-layer": _every_layer,
    "hidden/pooled": _pooled,
    "hidden/word": _word,
    "hidden/sentences": _sentences,
    "fill-mask/words": _pieces,
    "fill-mask/guesses": _guesses,
    "fill-mask/comparison": _comparison,
    "fill-mask/together": _together,
    "fill-mask/positions": _surprise,
    "fill-mask/each-word": _each_word,
    "fill-mask/likelihoods": _likelihoods,
    "fill-mask/lens": _lens,
    "fill-mask/followed": _followed,
    "fill-mask/attribution": _attribution,
    "fill-mask/heads": _heads,
    "fill-mask/what-if": _what_if,
    "fill-mask/patching": _patching,
    "next-sentence/pair": _pair,
    "next-sentence/pairs": _pairs,
    "next-sentence/attribution": _attribution,
    "next-sentence/heads": _heads,
    "own-head/labels": lambda view, subject: {"shares": own_head.labels(subject.trace).shares},
    "own-head/tags": lambda view, subject: {"shares": own_head.tags(subject.trace)[1]},
    "own-head/answer": lambda view, subject: {"shares": [one.share for one in own_head.answers(subject.trace, 6)]},
    "own-head/replaced": lambda view, subject: {"shares": own_head.replaced(subject.trace)},
    "projection/map": _map,
    "corpus/search": _search,
    "corpus/heads": _atlas,
    "corpus/neurons": _neurons,
    "corpus/sentences": _surprising,
    "side-by-side/pieces": lambda view, subject: {},
    "side-by-side/guesses": _side_guesses,
    "side-by-side/pair": _side_pair,
    "side-by-side/attention": _side_attention,
    "side-by-side/states": _side_states,
    "model/summary": lambda view, subject: {"parameters": subject.model.capabilities.parameters},
    "model/parameters": lambda view, subject: {"counts": subject.model.parameters_by_part()},
    "model/configuration": lambda view, subject: {},
    "model/modules": lambda view, subject: {},
    "model/cost": lambda view, subject: {
        "multiplications": subject.model.multiplications(subject.trace.kept) * subject.trace.kept
    },
    "model/weights": _weights,
    **dict.fromkeys(
        (f"experiments/{name}" for name in ("heads", "patching", "lens", "attention", "likelihood")),
        lambda view, subject: {"effects": view.result(subject).summary.effects},
    ),
}


def as_array(found):
    """A variable of a script as numbers."""
    if isinstance(found, dict):
        return np.stack([np.asarray(value, dtype=float) for value in found.values()], -1)
    if isinstance(found, tuple) and isinstance(found[0], list):
        return np.array([*found[0], found[1]])
    return found


def compare(view, subject):
    """Run the script of a view, and hold what it leaves to what the view shows; whether there was one."""
    kind = type(view)
    given = {name: getattr(view, name) for name in kind.settings if kind.settings[name].linked}
    view = kind.read(given, subject.model.capabilities)  # as from a link
    script = made(view, subject)
    if not script:
        return False
    found, subject = run(script), view.first(subject)
    for name, expected in SHOWN[view.name](view, subject).items():
        if name == "sizes":
            for mine, theirs in zip(found[name].values(), expected, strict=True):
                same(mine, theirs)
        elif name == "counts" and isinstance(expected, dict):
            assert found[name] == expected
        elif name == "outliers":
            assert sorted(found[name]) == expected
        elif name == "scaled":
            same(np.maximum(found[name].numpy(), -1e9), expected)
        elif view.name.startswith("corpus/"):  # the app reads a corpus in half precision
            same(found[name], expected, 1e-2)
        elif name in ("largest_change", "mixing", "places"):  # differences of numbers that are larger by far
            same(found[name], expected, 1e-5 if name != "largest_change" and subject.model.name == BUNDLED else 1e-4)
        elif (
            name == "recovered" or view.name == "experiments/patching"
        ):  # a ratio of differences, of which small ones have few digits
            same(found[name], expected, 1e-4)
        elif view.name.endswith("attribution"):  # sums of gradients, of which float32 keeps fewer digits
            same(found[name], expected, 5e-5)
        elif name == "points":  # the app computes them in float32, and directions of nearly the same variance turn easily
            same(found[name], expected, 1e-5 if subject.model.name == BUNDLED else 1e-2)
        else:
            same(as_array(found[name]), as_array(expected))
    return True


def test_each_view_is_served_or_says_why_not():
    assert SHOWN.keys() | code.WITHOUT.keys() == VIEWS.keys()
    assert not SHOWN.keys() & code.WITHOUT.keys()
    assert all(reason.endswith(".") for reason in code.WITHOUT.values())


PAIRS = ("happy | sad", "sad | happy")  # each text with both, so that the word wins in one of them
TYPED_ITEMS = "\n".join(f"{text} | {pair}" for text in ("*he/she* was [MASK] .", "the *man/cat* was [MASK] .") for pair in PAIRS)
ITEMS = {"source": TYPED, "typed": TYPED_ITEMS}
SETTINGS = {
    **{f"experiments/{name}": [ITEMS] for name in ("heads", "patching", "lens", "likelihood")},
    "experiments/attention": [ITEMS, ITEMS | {"looks": "backward"}],
    "overview/routes": [{"state": 1}],
    "attention/head": [
        {"average": "mean of the layer's heads"},
        {"average": "this head number, mean of all layers", "measure": "weight × value"},
        {"average": "mean of all heads", "specials": "renormalised"},
        {"group": "words", "specials": "hidden", "top_p": 60},
        {"group": "sentences", "direction": "A→B"},
        {"direction": "B→A", "specials": "hidden"},
        {"measure": "weight × value"},
    ],
    "attention/metric": [{"metric": metric.key} for metric in METRICS],
    "attention/rollout": [{"up_to": 1}],
    "attention/several": [{"layer": 2, "heads": [1, 2]}, {"mass": 60}],
    "inside-head/batch": [{"second": "He."}, {"second": "He or he [MASK] happy.", "token_asked": 2}],
    "hidden/one-layer": [{"look": VECTORS}],
    "hidden/every-layer": [{"measure": DRIFT}, {"measure": NORM}],
    "hidden/sentences": [{"pooling": "cls", "space": "centred"}, {"space": "whitened"}, {"pooling": "pooler"}],
    "hidden/word": [{"source": "A and B above", "word": "he"}],
    "fill-mask/guesses": [{"top_k": 2}],
    "fill-mask/comparison": [{"words": "e, a, n"}],
    "fill-mask/attribution": [
        {"method": "gradient_x_input", "foil": "second guess"},
        {"steps": 10, "word": "e", "baseline": "mean"},
        {"steps": 10, "foil": "e", "baseline": "mask"},
    ],
    "fill-mask/lens": [{"reading": "tuned"}],
    "fill-mask/followed": [{"reading": "tuned"}, {"against": "second guess"}],
    "fill-mask/heads": [{"foil": "second guess"}],
    "fill-mask/patching": [{"corrupted": SHORT[0].replace(".", ",")}, {"foil": "second guess"}, {"foil": "e"}],
    "next-sentence/attribution": [{"steps": 15}],
    "projection/map": [{"layer": 1}, {"source": WORDS, "dimensions": 3}, {"source": VOCABULARY}, {"pooling": "pooler"}],
    "corpus/search": [{"compare": "Head", "limit": 10}],
    "model/weights": [{"cell": [1, 1]}],
}
READS_A_CORPUS = ("tiny", "roberta", "modernbert")  # forty passes for each script
OTHER = {"other_a": "She or he [MASK] happy.", "other_b": "He was."}


def views_of(names):
    """The views with their default and with other settings."""
    for name in names:
        for given in [{}, *SETTINGS.get(name, [])]:
            yield VIEWS[name], (OTHER | given if name.startswith("side-by-side") else given)


@pytest.mark.parametrize("kind", ["tiny", *KINDS])
def test_every_family_gives_the_numbers_of_its_views(kind, families, tiny):
    model = tiny if kind == "tiny" else families[kind]
    subject, seen = subject_of(model, SHORT), set()
    for view, given in views_of(SHOWN):
        if "pooler" in given.values() and not model.capabilities.pooler:
            continue
        if view.name.startswith("corpus/") and kind not in READS_A_CORPUS:
            continue
        if view.name.endswith("attribution") and kind != "tiny":
            given = {"steps": 5} | given
        if compare(view.read(given, model.capabilities), subject):
            seen.add(view.name)
    assert {"attention/head", "inside-head/layer", "hidden/one-layer", "tokens/embeddings", "projection/map"} <= seen
    assert ("fill-mask/heads" in seen) == model.capabilities.fill_mask
    assert ("next-sentence/heads" in seen) == model.capabilities.next_sentence


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_the_bundled_model_gives_the_numbers_of_every_view(bundled, name):
    subject = subject_of(bundled, selection=Selection())
    given = (
        {"other_a": TEXTS[0].replace("man", "dog")}
        if name.startswith("side-by-side")
        else {"steps": 5}
        if name.endswith("attribution")
        else ITEMS  # four, where the page opens with twenty
        if name.startswith("experiments")
        else {}
    )
    there = compare(VIEWS[name].read(given, bundled.capabilities), subject)
    assert there == (not name.startswith("own-head") and name != "fill-mask/together")


@pytest.mark.parametrize("kind", ["bert", "albert", "modernbert", "distilbert", "mobilebert"])
def test_what_was_changed_is_in_the_script(families, kind):
    for change in (
        {"off": ((0, 1), (1, 0), (1, 1))},
        {"swap": ("happy", "sad")},
        {"swap": ("happy", "sad"), "patch": (1, 3)},
        {"swap": ("happy", "sad"), "patch": (3, 6), "off": ((2, 0),)},
        {"cut": ((0, 6, 2, None), (1, 6, 4, 1), (2, 3, 3, 0))},
        {"swap": ("happy", "sad"), "patch": (1, 3), "off": ((2, 0),), "cut": ((0, 6, 2, 1), (2, 6, 4, None))},
    ):
        subject = subject_of(families[kind], selection=replace(CHOSEN, **change))
        assert compare(VIEWS["fill-mask/heads"](foil="second guess"), subject)
        assert compare(VIEWS["fill-mask/what-if"](rather_than="second guess"), subject)
        for name in ("overview/routes", "overview/what-if", "fill-mask/what-if", "attention/what-if", "fill-mask/heads"):
            assert compare(VIEWS[name](), subject)
    pair = subject_of(families[kind], ("the man went", "he was sad"), replace(CHOSEN, off=((0, 1),), token=None))
    assert compare(VIEWS["attention/what-if"](), pair)
    assert compare(VIEWS["attention/what-if"](), pair.select(cut=((1, 0, 3, None),)))


def test_a_script_runs_outside_the_app_s_folder(bundled, tmp_path):
    (tmp_path / "lens.py").write_text(code.of(VIEWS["fill-mask/guesses"](), subject_of(bundled)), "utf-8")
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "lens.py"]
    answer = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, check=True, text=True)
    assert bundled.fill_mask(*TEXTS, top_k=1)[0].candidates[0].token in answer.stdout


def test_a_file_of_the_app_that_is_not_there_is_missed_with_a_sentence(tmp_path, monkeypatch):
    found = {"sys": sys}
    exec(SHIPPED.replace('find_spec("explorer")', 'find_spec("no_such_package")'), found)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="no assets/models/x here; put its full path"):
        found["shipped"]("assets/models/x")
    (tmp_path / "assets").mkdir()
    assert Path(found["shipped"]("assets")) == Path("assets")
    assert found["shipped"](str(tmp_path)) == str(tmp_path)


def test_several_blanks_and_the_likelier_filling(families, bundled):
    for model in (families["roberta"], families["bert"], bundled):
        subject = subject_of(model, ("the [MASK] went to the [MASK] and [MASK].", ""))
        assert compare(VIEWS["fill-mask/together"](), subject)
        assert compare(VIEWS["fill-mask/guesses"](), subject)


def test_two_models_side_by_side(families, tiny):
    for there in ("roberta", "modernbert"):
        view = {"other_model": families[there].name}
        for name in ("guesses", "attention", "pieces", "pair", "states"):
            compare(VIEWS[f"side-by-side/{name}"].read(view, tiny.capabilities), subject_of(tiny))


@pytest.mark.parametrize("task", TUNED)
@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "modernbert"])
def test_a_head_of_its_own(tmp_path, kind, task):
    model = explorer.load(str(write_tuned(tmp_path / "tuned", kind, task)))
    served = [name for name in SHOWN if name.startswith(("own-head", "model/")) and compare(VIEWS[name](), subject_of(model))]
    assert len([name for name in served if name.startswith("own-head")]) == 1


def test_long_texts_are_cut_as_the_app_cuts_them(families):
    for kind in ("bert", "modernbert"):
        subject = subject_of(families[kind], ("the man went to the [MASK] and bought milk " * 80, "he was happy " * 60))
        for name in ("tokens/pieces", "attention/head", "inside-head/dots", "hidden/every-layer", "fill-mask/lens"):
            script = made(VIEWS[name](), subject)
            assert run(script)
        assert compare(VIEWS["attention/head"](), subject)
        assert compare(VIEWS["inside-head/dots"](), subject)


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_typed_stays_a_text(tiny, families, text):
    for model in (tiny, families["roberta"]):
        subject = subject_of(model, (f"{text} [MASK]", text))
        for name, given in (
            ("tokens/pieces", {}),
            ("attention/head", {}),
            ("fill-mask/guesses", {}),
            ("fill-mask/likelihoods", {"sentences": text}),
            ("hidden/sentences", {"sentences": f"{text}\nthe man"}),
            ("side-by-side/attention", {"other_a": f"{text} {text}"}),
        ):
            assert compare(VIEWS[name].read(given, model.capabilities), subject)


def test_a_model_of_the_hub_is_called_by_its_id(tiny):
    model = copy.copy(tiny)
    model.name, model.from_hub = "google-bert/bert-base-uncased@main", True
    script = code.of(VIEWS["fill-mask/guesses"](), Subject.of(explorer.Trace(model, tiny.trace(*TEXTS).reading)))
    assert "MODEL = 'google-bert/bert-base-uncased'" in script
    assert "revision='main'" in script


def test_a_model_that_only_the_app_has_says_so(tiny):
    model = copy.copy(tiny)
    model.name = "tuned-AAAAAAAAAAAAAAAAAAAAAA"
    script = code.of(VIEWS["fill-mask/guesses"](), Subject.of(explorer.Trace(model, tiny.trace(*TEXTS).reading)))
    assert "MODEL = 'tuned-AAAAAAAAAAAAAAAAAAAAAA'  # tuned in the app" in script
    assert str(tiny.checkpoint.folder) not in script, "no path of the machine that nobody typed"


def test_a_script_of_the_corpus_reads_all_sentences_that_the_app_reads(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert runpy.run_module("explorer.corpus.scripts.texts")["texts"] == built_in().texts


def test_a_script_runs_by_itself(bundled, elsewhere, tmp_path):
    """In a process of its own, without our package: what it prints is the app's first guess."""
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    script = tmp_path / "script.py"
    script.write_text(made(VIEWS["fill-mask/guesses"](), subject_of(bundled)), "utf-8")
    done = elsewhere.run(script)
    first = bundled.fill_mask(*TEXTS)[0].candidates[0]
    assert done.returncode == 0, done.stderr
    assert f": {first.token} {first.probability:.2%}" in done.stdout.splitlines()[0]
    assert torch.is_grad_enabled()


def test_the_file_of_a_place_has_the_script_of_each_of_its_views(bundled):
    subject = subject_of(bundled)
    views = tuple(VIEWS[name]() for name in ("fill-mask/words", "fill-mask/guesses", "fill-mask/comparison", "fill-mask/game"))
    found = run(python(Place(subject, "fill-mask", "Guesses", views)).decode())
    assert {"tokens", "logits", "shares"} <= found.keys()
    with pytest.raises(InputError, match="with a predict"):
        python(Place(subject, "fine-tune", "Fine-tune", (VIEWS["fine-tune/runs"](),)))
    assert [way.key for way in ways.WAYS].count("py") == 1


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in (ROOT / "explorer").glob("*/scripts")} - {"task_head"}))
def test_every_program_runs_as_it_stands(folder, monkeypatch, capsys):
    """But for those of task heads, which the bundled model has not."""
    for path in sorted((ROOT / "explorer" / folder / "scripts").glob("[!_]*.py")):
        for name in [name for name in sys.modules if ".scripts." in name]:  # each begins anew, for some change the model
            monkeypatch.delitem(sys.modules, name)
        assert runpy.run_module(f"explorer.{folder}.scripts.{path.stem}"), path
    assert capsys.readouterr().out
