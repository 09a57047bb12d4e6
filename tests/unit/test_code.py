"""The Python of every view: programs compute the numbers that the view shows, and lines with the package show that view."""

import contextlib
import copy
import io
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.analysis.head_metrics import METRICS
from explorer.analysis.layer_maps import maps_of
from explorer.analysis.projection import MapSettings
from explorer.analysis.similarity import cosine_matrix, cosines, norms, steps
from explorer.attention.rollout import rollout
from explorer.bert.features import layer_features_in_steps
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.export import code, ways
from explorer.export.links import Place
from explorer.export.named import OF_THE_PAGE, read_settings
from explorer.fill_mask.lens import chosen_lens
from explorer.hidden_states.layers import NORM
from explorer.hidden_states.word import within_and_between
from explorer.overview.run import selected_run
from explorer.tabs import VIEWS
from explorer.techniques import ablation, attribution, filling, inside, lens, targets
from explorer.text.lines import read_lines
from explorer.ui.answers import each_word_hidden
from explorer.ui.attention_data import find_telling, overview_of, weights_of
from explorer.ui.programs import Program, read_scripts
from explorer.ui.subject import Selection, Subject
from tests.choices import declared, other_values
from tests.families import write_family, write_tuned

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ("The man went to the [MASK] because he was happy.", "He bought milk.")
SHORT = ("He or he [MASK] happy.", "He was.")
HOSTILE = (
    'it\'s "quoted"; \'\'\'three\'\'\' and """three"""',
    "a line\nand another\r\twith \\n \\ and {braces} ${alert(1)} %s \u2028 {0}",
    "emoji 😀 </script><b> #comment \\",
    "');import os;os.system('x')#",
)
CHOSEN = Selection(layer=2, head=2, token=3, picked=True)
MOST_LINES = 60  # of a program, without lists and empty lines


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """Loads each model once, and hands out copies, since some programs change theirs; they run where assets/ is."""
    kept, patch = {}, pytest.MonkeyPatch()
    load = transformers.PreTrainedModel.from_pretrained.__func__

    def once(cls, name, **given):
        key = (cls, name, str(sorted(given.items())))
        if key not in kept:
            kept[key] = load(cls, name, **given)
        return copy.deepcopy(kept[key])

    patch.setattr(transformers.PreTrainedModel, "from_pretrained", classmethod(once))
    patch.chdir(ROOT)
    yield
    patch.undo()


def run(program):
    """What a program leaves behind."""
    assert "import explorer" not in program
    assert "from explorer" not in program
    found, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "program", "exec"), found)
    assert printed.getvalue().strip(), "a program prints something"
    return found


def subject_of(model, texts=TEXTS, selection=CHOSEN):
    return Subject.of(model.trace(*texts), selection)


def same(found, expected, most=1e-5):
    """Within 1e-5 of the size of the numbers."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0) <= most * max(1.0, np.abs(expected).max(initial=0))


# What each view shows, by the names of the program's variables.


def _embeddings(view, subject):
    parts, encoding = inside.embedding_parts(subject.trace), subject.trace.encoding
    vectors = (*parts.added.values(), parts.total, parts.normed)
    expected = {"ids": [encoding.ids], "segments": [encoding.segments], "norms": np.stack([norms(part) for part in vectors]).T}
    return expected | {"total": parts.total[None], "hidden_state": subject.trace.states[:1]}


def _attention(subject):
    return np.stack([subject.trace.attention(layer) for layer in range(subject.model.capabilities.layers)])


def _metrics(view, subject):
    seen = overview_of(subject).metrics
    return {"metrics": np.stack([seen[metric.key] for metric in METRICS], -1)}


def _rollout(view, subject):
    flows = list(rollout(_attention(subject)))
    return {"matrix": flows[view.up_to - 1], "sources": np.stack([flow[subject.token] for flow in flows])}


def _layer(view, subject):
    layer, token = subject.selection.attention_layer, subject.token
    if view.name != "inside-head/layer" and subject.selection.token is None:
        token = find_telling(subject).query
    heads = subject.trace.heads(layer)
    expected = {"query": heads.query, "key": heads.key, "value": heads.value, "weights": heads.weights()}
    return expected | {"token": token, "following": subject.trace.states[layer + 1]}


def _states(view, subject):
    states, state = subject.trace.hidden_states, subject.selection.layer
    expected = {"vectors": states[state], "similarity": cosine_matrix(states[state]), "norms": norms(states)}
    return expected | {"change": steps(states), "away": 1 - cosines(states[1:], states[:1])}


def _word(view, subject):
    contexts = view.find(subject)
    within, between = within_and_between(contexts.vectors, contexts.senses)
    expected = {"vectors": contexts.vectors, "alike": within}
    return expected if np.isnan(between).any() else expected | {"different": between}


def _guesses(view, subject):
    blanks = subject.trace.mask_positions
    found = subject.model.guesses(subject.trace.states[-1][blanks], blanks, view.top_k)
    return {
        "probabilities": [[one.probability for one in guess.candidates] for guess in found],
        "ids": [[one.id for one in guess.candidates] for guess in found],
    }


def _together(view, subject):
    expected = {}
    for name, order in (("left_to_right", "left_to_right"), ("surest_first", "best_first")):
        steps = filling.fill_jointly(subject.trace, order)
        ids = [step.candidate.id for step in sorted(steps, key=lambda step: step.position)]
        expected[name] = [*ids, filling.log_probability(steps)]
    return expected


def _surprisal(view, subject):
    found = each_word_hidden(subject)
    return {"positions": found.positions, "bits": found.bits, "ranks": found.ranks, "best": found.best_ids}


def _lens(view, subject):
    found = lens.lens(subject.trace, range(subject.trace.kept), tuned=chosen_lens(subject, view.reading))
    expected = {"ids": found.ids, "probabilities": found.probabilities}
    return expected if view.reading == "tuned" else expected | {"final_ranks": found.final_ranks}


def _attribution(view, subject):
    return {
        "scores": attribution.attribute(subject.trace, view.target(subject), view.method, int(view.steps), view.baseline).scores
    }


def _heads(view, subject):
    return {"effects": ablation.head_effects(subject.trace, view.target(subject))}


def _what_if(view, subject):
    question = view.asked(subject)
    before = question.before.states[-1][[question.target.position]]
    both = (before, question.vector_after(subject)[None] if subject.selection.is_changed else before)
    named = zip(("before", "after"), both, strict=True)
    return {name: targets.logits_at(subject.model, question.target, vectors)[0].softmax(-1) for name, vectors in named}


def _routes(view, subject):
    run = selected_run(subject)
    return {"mixing": run.mixed.shares, "places": view._followed(subject, run).shares}


def _patching(view, subject):
    found = view.result(subject)
    if found.target.foil is None:
        return {"found": found.probabilities, "clean": found.clean[1], "bad": found.corrupted[1]}
    return {"found": found.logits, "clean": found.clean[0], "bad": found.corrupted[0]}


def _map(view, subject):
    texts, _ = read_lines(view.sentences)
    states = finished(layer_features_in_steps(subject.model, texts, view.pooling))
    layer = min(view.layer, len(states) - 1)
    points = maps_of(states, MapSettings("pca", view.dimensions)).at(layer).points
    return {"points": np.linalg.norm(points[:, None] - points, axis=-1)}  # distances, whichever way the map is turned


SHOWN = {
    **dict.fromkeys(("tokens/pieces", "tokens/embeddings"), _embeddings),
    "attention/head": lambda view, subject: {"weights": weights_of(subject, view.average, view.measure)},
    **dict.fromkeys(("attention/metric", "attention/metrics"), _metrics),
    "attention/rollout": _rollout,
    **dict.fromkeys(("inside-head/layer", "inside-head/dots"), _layer),
    **dict.fromkeys(("hidden/one-layer", "hidden/every-layer"), _states),
    "hidden/word": _word,
    "fill-mask/guesses": _guesses,
    "fill-mask/together": _together,
    **dict.fromkeys(("fill-mask/positions", "fill-mask/each-word"), _surprisal),
    "fill-mask/lens": _lens,
    "fill-mask/heads": _heads,
    **dict.fromkeys(("fill-mask/what-if", "overview/what-if", "attention/what-if"), _what_if),
    "fill-mask/patching": _patching,
    "fill-mask/attribution": _attribution,
    "next-sentence/pair": lambda view, subject: {"logits": subject.model.next_sentence(subject.text_a, subject.text_b).logits},
    "next-sentence/pairs": lambda view, subject: {
        "logits": [subject.model.next_sentence(a, b).logits for a, b, *_ in view.pairs]
    },
    "overview/routes": _routes,
    "projection/map": _map,
}


DIFFERENCES = ("mixing", "places", "points", "scores")  # of numbers that are larger by far


def as_array(name, found):
    """A variable of a program as numbers."""
    if isinstance(found, dict):
        return np.stack([np.asarray(value, dtype=float) for value in found.values()], -1)
    if isinstance(found, tuple) and isinstance(found[0], list):
        return np.array([*found[0], found[1]])
    if isinstance(found, list) and torch.is_tensor(found[0]):
        return torch.stack(found)
    return torch.cdist(found, found) if name == "points" else found


def compare(view, subject):
    """Run the program of a view, and compare what it leaves with what the view shows; whether there was one."""
    program = code.program(view, subject)
    if not program:
        return False
    own = [line for line in program.splitlines() if line.strip() and not line.startswith(("    '", '    "', "    ("))]
    assert len(own) <= MOST_LINES
    found, subject = run(program), view.first(subject)
    expected = SHOWN[view.name](view, subject)
    assert expected
    more = {"fill-mask/lens": ["probabilities"]}  # whose products sum in another order
    loose = (*DIFFERENCES, *more.get(view.name, ()))
    for name, value in expected.items():
        same(as_array(name, found[name]), as_array("", value), 1e-4 if name in loose else 1e-5)
    return True


SETTINGS = {
    "overview/routes": [{}, {"state": 1}],
    "attention/rollout": [{}, {"up_to": 1}],
    "hidden/every-layer": [{}, {"measure": NORM}],
    "hidden/word": [{}, {"source": "A and B above", "word": "he"}],
    "fill-mask/guesses": [{}, {"top_k": 2}],
    "fill-mask/attribution": [{"steps": 5}, {"steps": 5, "foil": "second guess"}],
    "fill-mask/lens": [{}, {"reading": "tuned"}],
    "fill-mask/heads": [{}, {"foil": "second guess"}],
    "fill-mask/patching": [{}, {"foil": "second guess"}],
    "projection/map": [{}, {"layer": 1, "dimensions": 3}],
}


LONG = ("fill-mask/heads", "fill-mask/patching", "projection/map")  # many passes: by the tiny model only


@pytest.mark.parametrize("name", SHOWN)
def test_programs_give_the_numbers_of_their_views(bundled, tiny, name):
    for model, texts, selection in ((bundled, TEXTS, Selection()), (tiny, SHORT, CHOSEN)):
        if model is bundled and name in LONG:
            continue
        for given in SETTINGS.get(name, [{}]):
            if model is tiny and given.get("reading"):
                continue
            if name.endswith("what-if"):
                selection = replace(selection, off=((0, 1),))
            texts = ("the [MASK] went to the [MASK].", "") if name == "fill-mask/together" else texts
            view = VIEWS[name].read({**declared(VIEWS[name]), **given}, model.capabilities)
            assert compare(view, subject_of(model, texts, selection)), (model.name, given)


def test_heads_off_and_cut_weights_are_in_the_program(tiny):
    for change in (
        {"off": ((0, 1), (1, 0), (1, 1))},
        {"cut": ((0, 6, 2, None), (1, 6, 4, 1))},
        {"off": ((1, 0),), "cut": ((0, 6, 2, 1), (1, 6, 4, None))},
    ):
        for name in ("overview/what-if", "fill-mask/what-if", "attention/what-if"):
            assert compare(VIEWS[name](), subject_of(tiny, TEXTS, replace(CHOSEN, **change)))


@pytest.mark.parametrize(
    ("name", "given", "changes"),
    [
        ("attention/head", {"measure": "weight × value"}, {}),
        ("attention/several", {}, {}),
        ("fill-mask/heads", {}, {"off": ((0, 1),)}),
        ("fill-mask/what-if", {}, {"swap": ("happy", "sad")}),
        ("projection/map", {"pooling": "cls"}, {}),
        ("overview/routes", {}, {"cut": ((0, 6, 2, None),)}),
    ],
)
def test_what_a_program_does_not_compute_is_left_to_the_package(bundled, name, given, changes):
    view, subject = VIEWS[name](**given), subject_of(bundled, selection=replace(CHOSEN, **changes))
    assert code.program(view, subject) == ""
    assert "trace.show" in code.of(view, subject)


def test_other_families_get_lines_with_the_package(tmp_path):
    model = explorer.load(str(write_family(tmp_path / "roberta", "roberta")))
    subject = subject_of(model, SHORT)
    assert not any(code.program(VIEWS[name](), subject) for name in ("attention/head", "fill-mask/guesses"))
    assert f"explorer.load({model.name!r})" in code.of(VIEWS["attention/head"](), subject)


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_trained_head(tmp_path, kind):
    model = explorer.load(str(write_tuned(tmp_path / "tuned", kind, "ForSequenceClassification")))
    subject = subject_of(model, SHORT)
    found = run(code.of(VIEWS["own-head/labels"](), subject))
    shares = explorer.view(subject.trace, "own-head/labels").tables["verdict"]["share"]
    same(sorted(found["shares"].tolist()), sorted(shares))


def settings_of_each(bundled):
    """Every view but those of trainings: with its defaults, and with each setting at another value."""
    for name, kind in VIEWS.items():
        if name in code.TRAINED:
            continue
        settings, values = kind.settings, declared(kind)
        given = [values]
        for one, setting in settings.items():
            if setting.linked:
                given += [values | {one: value} for value in other_values(setting, values[one], bundled.capabilities)[:2]]
        yield kind, given


def test_the_lines_of_every_view_name_its_settings_and_the_selection(bundled):
    changed = {"off": ((0, 1),), "swap": ("happy", "sad"), "patch": (1, 3), "cut": ((0, 6, 2, None), (1, 6, 4, 1))}
    subject = subject_of(bundled, selection=replace(CHOSEN, **changed))
    for kind, every in settings_of_each(bundled):
        for given in every:
            given = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
            view = kind.read(given, bundled.capabilities)
            shown = []
            trace = SimpleNamespace(show=lambda name, shown=shown, **settings: shown.append((name, settings)))
            fake = SimpleNamespace(load=lambda name, trace=trace: SimpleNamespace(trace=lambda *texts: trace))
            text = code.lines([view], subject).replace("import explorer\n", "")
            exec(text, {"explorer": fake})
            ((name, settings),) = shown
            (back,), there = read_settings([VIEWS[name]], settings, Subject.of(subject.trace))
            assert back == view, (name, settings)
            own = set(OF_THE_PAGE) & kind.settings.keys()  # which the view has in place of the page
            own |= {"patch"} if "swap" in own else set()  # there is none without a swap
            assert replace(there.selection, **dict.fromkeys(own)) == replace(subject.selection, **dict.fromkeys(own)), name


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_typed_stays_a_text(bundled, text):
    subject = subject_of(bundled, (f"{text} [MASK]", text))
    found = run(code.of(VIEWS["fill-mask/guesses"](), subject))
    assert (found["text_a"], found["text_b"]) == (subject.text_a, subject.text_b)
    found = run(code.of(VIEWS["projection/map"](sentences=f"{text}\nthe man"), subject))
    assert found["texts"] == read_lines(f"{text}\nthe man")[0]
    lines = code.lines([VIEWS["attention/several"]()], subject)
    trace = SimpleNamespace(show=lambda name, **settings: None)
    read = []
    fake = SimpleNamespace(load=lambda name: SimpleNamespace(trace=lambda *texts: read.append(texts) or trace))
    exec(lines.replace("import explorer\n", ""), {"explorer": fake})
    assert read == [(subject.text_a, subject.text_b)]


def test_long_texts_are_cut_as_the_app_cuts_them(tiny):
    subject = subject_of(tiny, ("the man went to the [MASK] and bought milk " * 80, "he was happy " * 60))
    assert compare(VIEWS["attention/head"](), subject)


def with_name(model, name, **more):
    """The same model by another name."""
    model = copy.copy(model)
    model.name = name
    vars(model).update(more)
    return model


def test_models_are_called_by_where_they_are(tiny):
    model = with_name(tiny, "google-bert/bert-base-uncased@main", from_hub=True)
    text = "from_pretrained(MODEL [MASK]"
    program = code.of(VIEWS["fill-mask/guesses"](), Subject.of(explorer.Trace(model, tiny.trace(text).reading)))
    assert f"text_a = {text!r}" in program
    assert "MODEL = 'google-bert/bert-base-uncased'" in program
    assert "revision='main'" in program
    assert "shipped" not in program
    model = with_name(tiny, "tuned-AAAAAAAAAAAAAAAAAAAAAA")
    lines = code.of(VIEWS["fill-mask/guesses"](), Subject.of(explorer.Trace(model, tiny.trace(*TEXTS).reading)))
    assert "# tuned in the app" in lines
    assert str(tiny.checkpoint.folder) not in lines, "no path of the machine that nobody typed"


def test_a_program_runs_by_itself(bundled, elsewhere, tmp_path, monkeypatch, capsys):
    """Beside assets/ without our package, and anywhere with it."""
    first = bundled.fill_mask(*TEXTS)[0].candidates[0]
    script = tmp_path / "script.py"
    script.write_text(code.of(VIEWS["fill-mask/guesses"](), subject_of(bundled)), "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    said = capsys.readouterr().out
    assert f": {first.token} {first.probability:.2%}" in said.splitlines()[0]
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    done = elsewhere.run(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout == said


def test_a_file_of_the_app_that_is_not_there_is_missed_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"no assets/models/.* here; put its full path"):
        run(Program("start").with_values("Which model?", {}).replace("assets/models/", "assets/models/no-"))


def test_every_program_is_of_a_view_has_its_check_and_names_settings_that_there_are():
    elsewhere = {"own-head/labels", "fine-tune/loop"}  # are run in tests of their own
    assert SHOWN.keys() | elsewhere == code._PROGRAMS.keys()
    for name, made in code._PROGRAMS.items():
        for program in made if isinstance(made, tuple) else [made]:
            assert program.section in read_scripts()[1]
            assert set(program.settings) <= VIEWS[name].settings.keys(), name


def test_the_file_of_a_place_has_the_python_of_each_of_its_views(bundled):
    subject = subject_of(bundled)
    views = tuple(VIEWS[name]() for name in ("fill-mask/guesses", "fill-mask/comparison", "fill-mask/game"))
    text = ways.python(Place(subject, "fill-mask", "Guesses", views)).decode()
    program, lines = text.split("\n# ---", 1)
    assert "probabilities" in run(program)
    assert [line for line in lines.splitlines() if line.startswith("trace.")] == [
        f"trace.show({view.name!r}, layer=2, head=2, token=3)" for view in views[1:]
    ]
    with pytest.raises(InputError, match="has a predict"):
        ways.python(Place(subject, "fine-tune", "Fine-tune", (VIEWS["fine-tune/runs"](),)))
