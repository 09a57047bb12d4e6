"""The arithmetic of the page's JavaScript: the modules of assets/arithmetic, against Python on random inputs.

They are loaded as the ES modules that they are, into one empty page.
"""

import zlib
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.core.paths import ASSETS
from explorer.guide.pages import anchor
from explorer.overview.pictures import LEAST, LEVELS
from explorer.tabs import TABS
from explorer.techniques import routes
from explorer.ui.pictures.bars import percent
from explorer.ui.pictures.base import esc, to_base64, token_labels
from explorer.ui.pictures.text_map import pack_places

SITE = "http://localhost/"  # nothing listens there: the page's requests are answered below
TIMES = 24  # random inputs of a test
ODD = ["", "plain", "two words", 'say "so"', "a,b", "line\nbreak", "carriage\rreturn", "\tx", "Größe", "𝔘", "##ing"]


@pytest.fixture(scope="module")
def modules(browser):
    """Calls `modules("colour", "toLab", [1, 2, 3])` in a blank page."""
    page = browser.page()
    page.problems = []
    empty = "<!doctype html><link rel=icon href=data:,>"

    def answer(route):
        path = ASSETS / route.request.url.removeprefix(SITE)
        if path.suffix == ".js":
            route.fulfill(body=path.read_text("utf-8"), content_type="text/javascript")
        else:
            route.fulfill(body=empty, content_type="text/html")

    page.route(f"{SITE}**", answer)
    page.goto(SITE)

    def call(module, function, *arguments):
        """The result; byte strings become a Uint8Array, typed arrays come back as lists."""
        script = """async ([module, name, values]) => {
            const each = (value, fn) => Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fn(one)]));
            function own(value) {
                if (Array.isArray(value)) return value.map(own);
                if (!value || typeof value !== "object") return value;
                return "base64" in value ? Uint8Array.from(atob(value.base64), (one) => one.charCodeAt(0)) : each(value, own);
            }
            function back(value) {
                if (ArrayBuffer.isView(value)) return Array.from(value);
                if (Array.isArray(value)) return Array.from(value, back);
                return value && typeof value === "object" ? each(value, back) : value;
            }
            return back((await import(`./arithmetic/${module}.js`))[name](...own(values)));
        }"""
        return page.evaluate(script, [module, function, _sent(arguments)])

    yield SimpleNamespace(call=call, page=page)
    browser.close(page)


def _sent(value):
    if isinstance(value, bytes):
        return {"base64": to_base64(np.frombuffer(value, np.uint8))}
    if isinstance(value, dict):
        return {name: _sent(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sent(one) for one in value]
    return value


@pytest.fixture
def chance(request):
    """Random numbers that are the same at each run of a test."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


def test_each_module_loads_by_itself(modules):
    names = sorted(path.stem for path in (ASSETS / "arithmetic").glob("*.js"))
    load = "(names) => Promise.all(names.map(async (name) => Object.keys(await import(`./arithmetic/${name}.js`)).length))"
    assert min(modules.page.evaluate(load, names)) > 0


def oklab(srgb):
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(linear @ np.transpose(to_lms)) @ np.transpose(to_lab)


@pytest.mark.parametrize("dark", [False, True])
def test_the_ramp_begins_at_any_background_and_goes_in_even_steps(modules, chance, dark):
    near = chance.integers(0, 24, (6, 3))
    for background in (near if dark else 255 - near).tolist():
        table = np.array(modules.call("colour", "rampFrom", background, dark))
        assert table.shape == (256, 3)
        assert table[0].tolist() == background
        lab = oklab(table[::15] / 255)
        lightness = np.diff(lab[:, 0])
        assert (lightness > 0).all() if dark else (lightness < 0).all()
        steps = np.linalg.norm(np.diff(lab, axis=0), axis=1)
        assert steps.std() / steps.mean() < 0.2


def test_a_window_shows_as_many_places_as_fit_and_contains_its_token(modules, chance):
    for _ in range(TIMES):
        tokens, size = int(chance.integers(25, 500)), int(chance.choice([11, 24]))
        starts = list(range(tokens))
        if chance.random() < 0.5:  # places are words, of several tokens each
            starts = sorted({0, *chance.integers(0, tokens, tokens // 2).tolist()})
        token = int(chance.integers(0, tokens))
        begin = modules.call("windows", "windowAround", token, tokens, size)
        assert begin <= tokens - size
        found = modules.call("windows", "windowFrom", starts, begin, size)
        assert 0 <= found["first"] < found["last"] <= len(starts)
        assert found["last"] - found["first"] == min(size, len(starts))
        if len(starts) == tokens:
            assert found["first"] <= token < found["last"]
        moved = modules.call("windows", "tokenAt", starts, float(chance.uniform(-50, 550)), size)
        assert moved in starts
        assert starts.index(moved) <= max(0, len(starts) - size)


class TestRoutes:
    @staticmethod
    def mixing(chance, layers=4, rows=9):
        """Shares as they are sent: two bytes each."""
        shares = chance.dirichlet(np.full(rows, 0.3), (layers, rows))
        return np.rint(shares * LEVELS).astype("<u2"), (np.rint(shares * LEVELS) / LEVELS).astype(np.float32)

    def test_the_shares_of_a_place_and_its_routes_are_those_of_python(self, modules, chance):
        for _ in range(TIMES):
            packed, shares = self.mixing(chance)
            layers, rows, _ = shares.shape
            state, row = int(chance.integers(0, layers + 1)), int(chance.integers(0, rows))
            sent = modules.call("routes", "sharesFrom", packed.tobytes())
            np.testing.assert_allclose(sent, shares.ravel(), rtol=1e-6)
            found = modules.call("routes", "routesTo", sent, rows, {"state": state, "row": row}, LEAST)
            places = routes.place_shares(shares, row, state)
            np.testing.assert_allclose(found["shares"], places, atol=3e-5)  # the page skips tokens with less than a millionth
            expected = {
                (one.layer, one.query, one.key): one.share
                for one in routes.routes(shares, places, limit=10_000)
                if one.share > LEAST + 1e-5
            }
            got = {tuple(route[:3]): route[3] for route in found["routes"]}
            assert expected.keys() <= got.keys()
            assert all(share > LEAST - 1e-5 for share in got.values())
            np.testing.assert_allclose([got[key] for key in expected], list(expected.values()), atol=3e-5)

    def test_an_edit_keeps_the_rows_before_and_behind_it(self, modules, chance):
        words = list("abcdef")
        for _ in range(TIMES):
            before = chance.choice(words, int(chance.integers(1, 9))).tolist()
            at, gone = int(chance.integers(0, len(before) + 1)), int(chance.integers(0, 3))
            new = chance.choice(words, int(chance.integers(0, 3))).tolist()
            now = [*before[:at], *new, *before[at + gone :]]
            found = modules.call("routes", "continued", now, before)
            assert len(found) == len(now)
            rows = [row for row in found if row >= 0]
            assert rows == sorted(set(rows)), "no row is continued twice, and none overtakes another"
            kept = [row for row, old in enumerate(found) if old >= 0 and before[old] == now[row]]
            assert len(kept) >= len(now) - len(new)


class TestBinary:
    def test_the_arrays_of_plotly_are_unpacked(self, modules, chance):
        for kind in ("f4", "f8", "u1", "i1", "u2", "i2", "u4", "i4"):
            values = (chance.normal(size=(3, 4)) * 100).clip(0 if kind[0] == "u" else -100, 100).astype(kind)
            trace = go.Figure(go.Heatmap(z=values, customdata=values[0])).to_dict()["data"][0]
            for name, expected in (("z", values), ("customdata", values[0])):
                assert set(trace[name]) >= {"bdata", "dtype"}
                np.testing.assert_array_equal(modules.call("binary", "unpack", trace[name]), expected)
        assert modules.call("binary", "unpack", [1, None]) == [1, None]

    def test_the_checksum_is_that_of_zlib(self, modules, chance):
        for size in (0, 1, 7, 1000):
            data = chance.bytes(size)
            assert modules.call("binary", "crc", data) == zlib.crc32(data)


def test_a_small_share_is_told_as_in_python_and_a_large_one_whole(modules, chance):
    for share in [0.0, 1.0, 1e-9, 0.9999, 0.998, 0.0995, *chance.uniform(0, 1, TIMES) ** 4]:
        told = modules.call("labels", "percent", float(share))
        whole = share >= 0.0995 and not 0.995 <= share < 1
        assert told == (f"{int(100 * share + 0.5)}%" if whole or share == 0 else percent(share)), share


class TestLabels:
    def test_labels_of_an_axis_are_read_back_as_tokens(self, modules, chance):
        tokens = ["<b>", "a & b", "&lt;", "the", "the", "the", *chance.choice(ODD, 9)]
        assert [modules.call("labels", "decoded", label) for label in token_labels(tokens)] == tokens
        assert [modules.call("labels", "encoded", token) for token in tokens] == [esc(token) for token in tokens]

    def test_a_text_is_cut_to_the_longest_beginning_that_fits(self, modules, chance):
        script = (
            """async ([text, room]) => (await import("./arithmetic/labels.js")).shortened(text, room, (one) => 7 * one.length)"""
        )
        for room in chance.integers(7, 120, TIMES).tolist():
            text = "x" * int(chance.integers(0, 30))
            fits = room // 7
            assert modules.page.evaluate(script, [text, room]) == (text if len(text) <= fits else "x" * (fits - 1) + "…")

    def test_the_anchor_of_a_heading_is_that_of_the_guide(self, modules):
        headings = [tab.label for tab in TABS] + [choice for tab in TABS for choice in tab.choices]
        for heading in [*headings, "Why? (a test)", "Layer-by-layer: it's ok", " Next  sentence "]:
            assert modules.call("labels", "anchor", heading) == anchor(heading)


def test_a_lasso_holds_what_is_inside_and_packed_places_come_back(modules, chance):
    corners = [[0, 0], [10, 0], [10, 10], [5, 3], [0, 10]]  # with a notch from above
    for x, y in chance.uniform(0.01, 9.99, (TIMES, 2)).tolist():
        inside = y < (10 - 1.4 * x if x < 5 else 1.4 * x - 4)
        assert modules.call("placing", "isInside", corners, [x, y]) == inside, (x, y)
    places = chance.normal(size=(50, 2)) * [3, 0.01]
    back = modules.call("placing", "unpackPlaces", pack_places(places))
    assert (np.abs(np.array(back) - places).max(0) < 1e-5 * np.ptp(places, axis=0)).all()
    assert modules.call("placing", "unpackPlaces", pack_places(np.ones((2, 2)))) == [[1, 1], [1, 1]]


def test_keys_move_along_a_line_and_in_a_grid_and_stop_at_its_edge(modules, chance):
    keys = {"ArrowLeft": (0, -1), "ArrowRight": (0, 1), "ArrowUp": (-1, 0), "ArrowDown": (1, 0)}
    for _ in range(TIMES):
        rows, columns = chance.integers(1, 25, 2).tolist()
        row, column = int(chance.integers(0, rows)), int(chance.integers(0, columns))
        at, count = row * columns + column, rows * columns
        for key, (down, right) in keys.items():
            expected = min(max(row + down, 0), rows - 1) * columns + min(max(column + right, 0), columns - 1)
            assert modules.call("../shared/dom", "inGrid", {"key": key}, at, columns, count) == expected
            assert modules.call("../shared/dom", "along", {"key": key}, at, count) == min(max(at + down + right, 0), count - 1)
        assert modules.call("../shared/dom", "inGrid", {"key": "End"}, at, columns, count) == row * columns + columns - 1
        assert modules.call("../shared/dom", "inGrid", {"key": "PageUp"}, at, columns, count) == column
        assert modules.call("../shared/dom", "along", {"key": "Home"}, at, count) == 0
    assert modules.call("../shared/dom", "along", {"key": "ArrowLeft", "altKey": True}, 1, 3) == -1, "the browser's own"
    assert modules.call("../shared/dom", "inGrid", {"key": "x"}, 1, 3, 9) == -1
