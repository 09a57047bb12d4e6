"""No finding makes much of nothing: its number and the cell outlined for it can be seen, for any input and model."""

import re
from contextlib import suppress

import numpy as np
import plotly.graph_objects as go
import pytest

import explorer
from explorer.analysis.attention import scale_end
from explorer.analysis.head_metrics import TokenFacts, head_metrics, patterns
from explorer.attention.heads import Heads, OneHead
from explorer.core.errors import ExplorerError
from explorer.fill_mask.game import Game
from explorer.fill_mask.positions import EachWord
from explorer.inside_head.decoder import Decoder
from explorer.inside_head.steps import DotProducts
from explorer.page.examples import FIRST_A, FIRST_B
from explorer.tabs import TABS
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import bars, change_of
from explorer.ui.roles import word_pairs
from explorer.ui.subject import Subject
from explorer.ui.tabs import views_in
from explorer.ui.telling import share_with_interval, stands_out, two_places
from explorer.ui.view import View, finding_of
from tests.at_night import at_night
from tests.corpora import few_read
from tests.unit.test_figures import decoded

INPUTS = {
    **{"opening": (FIRST_A, FIRST_B), "one word": ("Hello", ""), "equal tokens": ("the the the the the the", "")},
    **{"repeated": ("The zebra saw the [MASK] and the zebra saw [MASK].", ""), "no blank": ("Met zebras met zebras.", "")},
    **{"a blank alone": ("[MASK]", ""), "odd": ("🙂🙂 مدينة [MASK] قديمة على البحر.", ""), "cut": ("bank " * 600, "")},
}
MODELS = at_night(("bundled", "random", "uniform"), but=("bundled", "uniform"))
ANSWER = re.compile(
    r"(?:guess|is|say|on|reads?|for|than|as) “[^”]*”|(?<=layer \d, )“[^”]*”(?= after layer)"
    r"|“[^”]*”(?= (?:falls|rises|stays|rather|(?:with |\()?[<>]?\d))"
)
OF_WORDS = ("tokens/pieces", "tokens/byte-pairs", "tokens/vocabulary", "hidden/word")
UNLIKELY = (EachWord, Game)  # their claim is that the share is small
NUMBER = re.compile(r"less than 1%|about 0|less than 0\.01|[<>]?[+−-]?\d+(?:\.\d+)?\s?%|[+−-]?\d+\.\d+")
SEEN = 0.06  # of the colour scale: 15 of the 256 colours of the ramp
ELSEWHERE = ("experiments", "corpus", "fine-tune")  # what they say is about other sentences; at night, and in test_findings
FITTED = ("up_to", "layer")  # settings whose range is the model's
OF_HEADS = (Heads, OneHead, DotProducts, Decoder)


@pytest.fixture(scope="module", params=MODELS)
def model(request, make_tiny):
    """The model in the repository, and two with random weights: large ones, and such as a new network begins with."""
    if request.param == "bundled":
        return request.getfixturevalue("bundled")
    return explorer.load(make_tiny(initializer_range=0.02) if request.param == "uniform" else make_tiny())


def claims_nothing(text: str) -> bool:
    """Whether a finding makes a claim with a number that rounds to nothing; one that says that nothing stands out makes none."""
    first = NUMBER.search(re.sub("“.*?”", "“”", text))
    says_so = re.search(r"\b(?:No|None|Nothing|none|no|hardly|little|almost none|keep their vectors)\b", text)
    if not first or says_so:
        return False
    return first[0].startswith(("less", "about", "<")) or not float(re.sub(r"[^\d.]", "", first[0]))


def unnumbered(view: type[View], text: str, tokens: tuple[str, ...]) -> list[str]:
    """The tokens that a view names without their number though they occur more than once; an answer of the model has none."""
    named = re.findall(r"“([^”]*)”(?! \(token \d)", ANSWER.sub("", text))
    return [token for token in named if tokens.count(token) > 1 and not view.name.startswith(OF_WORDS)]


def telling_cells(picture: object) -> list[float]:
    """Where on the colour scale the cells lie that are outlined for a finding, from 0 to 1."""
    figure = picture if isinstance(picture, go.Figure) else None
    if figure is None and isinstance(picture, dict) and "layout" in picture:
        figure = go.Figure({name: picture[name] for name in ("data", "layout")})
    if figure is None:
        return []
    axes = (figure.data[0].y, figure.data[0].x)
    firsts = [axis[0] if axis is not None and isinstance(axis[0], int | np.integer) else 0 for axis in axes]
    corners = [(one.y0, one.x0) for one in figure.layout.shapes if one.name == "telling"]
    cells = [tuple(int(corner + 0.5 - first) for corner, first in zip(pair, firsts, strict=True)) for pair in corners]
    return [abs(float(decoded(figure, "z")[cell])) / figure.layout.coloraxis.cmax for cell in cells]


def check(view: type[View], shown: View, subject: Subject) -> bool:
    """Hold the finding and the pictures of a view to what stands out; whether there is a finding."""
    found = finding_of([shown], subject)
    if found is not None:
        assert view in UNLIKELY or not claims_nothing(found.text), f"{view.name}: {found.text}"
        assert found.text.endswith("."), view.name
        assert "\n" not in found.text
        assert "nan" not in re.sub("“.*?”", "", found.text)
        assert not unnumbered(view, found.text, subject.trace.tokens), f"{view.name}: {found.text}"
    if found is not None and found.why:
        (tab,) = [tab for tab in TABS if tab.id == found.why.tab]
        assert found.why.choice in tab.choices
        assert set(found.why.selection) <= {"layer", "head", "token", "off"}
        assert set(found.why.settings) <= {name for one in tab.views for name in one.settings}
    if issubclass(view, LongView):
        return found is not None
    try:
        content = shown.compute(subject)
    except ExplorerError:  # as where there is no blank
        return found is not None
    for name, picture in content.items():
        assert not unnumbered(view, str(picture), subject.trace.tokens), f"{view.name}: {name}"
        if name != "causal":  # where what a decoder does not see is empty
            assert all(share >= SEEN for share in telling_cells(picture)), view.name
    return found is not None


@pytest.mark.parametrize("name", at_night(INPUTS, but=["one word", "odd", "repeated", "no blank"]))
def test_no_finding_claims_what_rounds_to_nothing_and_no_white_cell_is_outlined(model, name):
    for tab in TABS:
        for choice in tab.choices.values():
            for view in views_in(choice):
                if tab.needs and not getattr(model.capabilities, tab.needs):
                    continue
                if tab.id in ELSEWHERE and name not in ("opening", "equal tokens"):
                    continue
                shown = view.read({name: getattr(view(), name) for name in view.settings if name in FITTED}, model.capabilities)
                subject = shown.first(Subject(model.name, *INPUTS[name]))
                if shown.unless(subject) or (issubclass(view, LongView) and subject.trace.kept > 100):
                    continue
                if issubclass(view, LongView) and view.finding is not View.finding:
                    with few_read("here", "there"), suppress(ExplorerError):  # as where there is no word to hide
                        shown.compute(subject)
                check(view, shown, subject)


@pytest.mark.parametrize("name", at_night([*INPUTS][:3], but=["opening"]))
@pytest.mark.parametrize("view", OF_HEADS, ids=lambda view: view.name)
def test_every_head_has_a_finding_that_says_something(model, view, name):
    trace, sizes = model.trace(*INPUTS[name]), model.capabilities
    for layer in range(1, sizes.layers + 1):
        for head in range(1, sizes.heads + 1):
            subject = Subject.of(trace).select(layer=layer, head=head)
            found = check(view, view(), subject)
            assert found or view is OneHead, (layer, head)  # whose pictures have the cells that the finding of Heads names
            if view is Heads and "no weight between two words stands out" in Heads().finding(subject).text:
                weights = trace.attention(layer - 1)[head - 1] * word_pairs(trace.encoding)
                assert not stands_out(float(weights.max()), 1 / trace.kept), (layer, head)


def test_a_head_with_a_habit_is_told_of_by_its_mean_weight(bundled, eager):
    trace = bundled.trace("The man went to the store to buy milk.")
    attention = eager(bundled, trace.encoding.text_a)[1].attentions[0][0, 2].numpy()
    mean = float(np.diagonal(attention, -1).mean())
    found = Heads().finding(Subject.of(trace).select(layer=1, head=3))
    assert found.text == f"Layer 1, head 3 attends to the previous token: {mean:.2f} of its weight on average."
    assert telling_cells(OneHead().compute(Subject.of(trace).select(layer=1, head=3))["heatmap"]) == []


def test_evenly_spread_weights_have_no_other_pattern_however_few_tokens():
    for tokens in (3, 4, 5):
        even = np.full((1, tokens, tokens), 1 / tokens, dtype=np.float32)
        facts = TokenFacts(np.arange(tokens), np.eye(tokens, dtype=bool)[0], np.eye(tokens, dtype=bool)[-1])
        assert patterns(head_metrics(even, facts)).tolist() == ["broad"]


@pytest.mark.parametrize(
    ("share", "even", "expected"),
    [(0.09, 0, False), (0.1, 0, True), (0.1, 0.05, True), (0.12, 0.1, False), (0.36, 1 / 3, False), (0.5, 0.4, True)],
)
def test_a_share_stands_out_from_a_tenth_and_from_an_even_spread(share, even, expected):
    assert stands_out(share, even) == expected


def test_two_places_never_claim_zero():
    written = {0.0: "0.00", 0.004: "less than 0.01", -0.004: "about 0", -0.25: "−0.25", 0.005: "0.01"}
    assert {number: two_places(number) for number in written} == written


@pytest.mark.parametrize(("tokens", "largest", "end"), [(12, 0.09, 1), (64, 0.3, 1), (65, 0.02, 8 / 65), (512, 0.9, 0.9)])
def test_the_scale_of_attention_ends_at_1_or_for_long_inputs_where_weights_are_seen(tokens, largest, end):
    assert scale_end(largest, tokens) == pytest.approx(end)
    assert np.sqrt(1 / tokens / scale_end(1 / tokens, tokens)) > 0.12, "an even weight is not white"


def test_percentages_never_claim_0_or_100():
    assert change_of("0", 0.0442, 0.0366) == "“0” falls from 4.4% to 3.7%", "with a decimal where whole percents are equal"
    shares = {0.431: "43.1%", 0: "0.0%", 0.0004: "<0.1%", 0.0006: "0.1%", 0.9994: "99.9%", 0.9996: ">99.9%", 1: "100.0%"}
    for share, text in {**shares, np.float32(0.5): "50.0%"}.items():
        (row,) = bars([("x", share, "")])["groups"][0]["rows"]
        assert (row["percent"], type(row["share"])) == (text, float)


@pytest.mark.parametrize("number", [1, 5, 18, 100, 2_000])
def test_only_all_are_100_percent_and_only_none_are_0(number):
    for right in {0, 1, number // 2, number - 1, number}:
        share, low, high = re.findall(r"[<>]?[\d.]+%", share_with_interval(right, number).replace("95% interval", ""))
        for written in (share, low):
            assert (written in ("0%", "0.0%")) == (right == 0)
        for written in (share, high):
            assert (written in ("100%", "100.0%")) == (right == number)
        assert low != high
    assert share_with_interval(1_999, 2_000) == ">99.9%, 95% interval 99.7% to >99.9%"
    assert share_with_interval(17, 18) == "94%, 95% interval 74% to 99%"
