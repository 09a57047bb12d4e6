"""What lessons, guide and card state as a fact is recomputed, from one source where several pages state it."""

import ast
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr
from sklearn.neighbors import NearestNeighbors
from transformers import AutoTokenizer, BertModel

from explorer.experiments.compute.experiment import experiment, question_of, read_items_as
from explorer.experiments.compute.minimal_pairs import suite_items, suite_of
from explorer.fill_mask import guesses
from explorer.hidden_states.word import contexts_of, senses
from explorer.inside_head.compute import sinusoids
from explorer.model_card.origin import RECIPES
from explorer.tabs import TABS, VIEWS
from explorer.teaching.lessons.reading import lessons
from explorer.techniques.attribution import occlusion_of
from explorer.techniques.targets import Target
from explorer.text.lines import read_lines

ASSETS = Path(__file__).resolve().parents[2] / "assets"
CARD = ASSETS / "models" / "bert-l6-h384-uncased" / "README.md"
PAGES = [*sorted((ASSETS / "lessons" / "en").glob("*.md")), *sorted((ASSETS / "guide").glob("*.md")), CARD]
INTERVAL = re.compile(
    r"(?:(?P<right>[\d,]+)|(?P<share>[\d.]+)%) of (?P<all>[\d,]+)(?: items| words)? "
    r"\(95% interval (?P<low>[\d.]+) to (?P<high>[\d.]+)%"
)


def text_of(path: Path) -> str:
    """A page as one line, so that a sentence may go over several of its lines."""
    return " ".join(path.read_text("utf-8").split())


INTERVALS = [pytest.param(found, id=f"{path.stem}:{found[0]}") for path in PAGES for found in INTERVAL.finditer(text_of(path))]


@pytest.fixture(scope="module")
def lesson():
    return lambda number: text_of(next((ASSETS / "lessons" / "en").glob(f"{number:02}-*.md")))


@pytest.mark.parametrize("stated", INTERVALS)
def test_a_stated_interval_is_wilsons(stated):
    total = int(stated["all"].replace(",", ""))
    right = int(stated["right"].replace(",", "")) if stated["right"] else round(float(stated["share"]) / 100 * total)
    ends = binomtest(right, total).proportion_ci(method="wilson")
    digits = len(stated["low"].partition(".")[2])
    assert (float(stated["low"]), float(stated["high"])) == (round(100 * ends.low, digits), round(100 * ends.high, digits))


def same_sense(vectors: np.ndarray, labels: np.ndarray) -> float:
    """How often the nearest other vector has the same label; of equally near ones the share."""
    far, near = NearestNeighbors(n_neighbors=len(vectors) - 1, metric="cosine").fit(vectors).kneighbors()
    return sum(np.mean(labels[row[away < away[0] + 1e-5]] == label) for label, away, row in zip(labels, far, near, strict=True))


def test_senses_are_told_apart_as_often_as_lesson_9_counts(bundled, lesson):
    before, after, total, missed = 0, 0, 0, set()
    for word, text in senses().items():
        contexts = contexts_of(bundled, *read_lines(text), word)
        labels = np.array(contexts.senses)
        first, last = (same_sense(contexts.vectors[layer], labels) for layer in (0, -1))
        if word == "bank":
            assert f"for {last:.0f} of {len(labels)} (" in lesson(9)
            assert f"about {first:.0f} of {len(labels)} (" in lesson(9)
        missed |= {word} if round(last) < len(labels) else set()
        before, after, total = before + first, after + last, total + len(labels)
    assert f"{after:.0f} of {total} (" in lesson(9)
    assert f"about {before:.0f} of {total} (" in lesson(9)
    assert (missed, f"{total - after:.0f}") == ({"crane"}, "3")
    assert "All three misses are of *crane*." in lesson(9)


def test_frequency_is_in_no_single_number_and_hardly_in_the_fifth(lesson):
    folder = CARD.parent
    words = BertModel.from_pretrained(folder, dtype="float32").embeddings.word_embeddings.weight.detach().numpy()
    pieces = AutoTokenizer.from_pretrained(folder).convert_ids_to_tokens(range(len(words)))
    start = pieces.index("the")  # from here on, whole words stand in the order of their frequency
    assert pieces[start : start + 4] == ["the", "of", "and", "in"]
    ranked = [id for id in range(start, len(words)) if not pieces[id].startswith("##") and pieces[id].isascii()]
    found = abs(np.array([spearmanr(column, ranked).statistic for column in words[ranked].T]))
    assert "Some of the 384 numbers rise or fall with it, the fifth hardly does, and none says only that." in lesson(2)
    assert (found > 0.5).sum() > 1
    assert found[4] < 0.1
    assert found.max() < 0.8


def test_a_step_turns_each_pair_of_waves_by_an_angle_of_its_own():
    rows = sinusoids(200, 384)
    waves = rows[:, 1::2] + 1j * rows[:, 0::2]  # cosine and sine of a pair as one complex number
    for step in (1, 7):
        turned = waves[step:] / waves[:-step]
        assert np.allclose(turned, turned[0], atol=1e-4), "wherever one starts"
        assert abs(np.diff(np.angle(turned[0]))[:50]).min() > 1e-4, "another angle for the next pair"


def test_steps_and_pieces_are_those_of_the_card(guide, lesson):
    card = CARD.read_text("utf-8")
    rows = re.findall(r"^\| steps(?: of 4,096 pieces)? \|(.+)\|$", card, re.MULTILINE)
    steps = sum(int(cell.replace(",", "")) for row in rows for cell in row.split("|"))
    stated = next(row[-1] for row in RECIPES if row[0] == "steps")
    assert stated == f"{steps:,}"
    assert f"our own training of this small model {steps:,}." in lesson(7)
    pieces = sum(map(int, re.findall(r"(\d+) million pieces(?:, and since| *\.)", text_of(CARD))))
    assert f"on {pieces} million pieces" in " ".join(guide["models"].split())
    assert pieces == 35
    assert "thirty-five million pieces" in lesson(15)
    assert "| dropout | none | none | 0.1 |" in card
    assert next(row[-1] for row in RECIPES if row[0] == "dropout") == "0.1 in the last run, none before"


def test_where_the_difference_is_carried_in_agreement(bundled):
    told = text_of(ASSETS / "guide" / "experiments.md")
    shares = re.search(
        r"carries the difference up to hidden state 3 \((\d+)% there\), the other words at 4 \((\d+)%\), "
        r"and the blank from 5 on \((\d+)%",
        told,
    ).groups()
    found = experiment(bundled, suite_items("agreement"), "patching", "residual").summary.effects
    assert [round(100 * float(found[at])) for at in ((3, 0), (4, 1), (5, 2))] == [*map(int, shares)]
    assert [int(row.argmax()) for row in found] == [0, 0, 0, 0, 1, 2, 2], "and it is carried nowhere more"


def test_occlusion_finds_the_subject_as_often_as_the_guide_counts(bundled):
    told, suite = text_of(ASSETS / "guide" / "claims.md"), suite_of("agreement")
    items, left_out = read_items_as(question_of(bundled, "attribution", "foil"), suite.items)
    assert not left_out
    right, total = Counter(), Counter(suite.kinds)
    for item, kind in zip(items, suite.kinds, strict=True):
        trace, target = bundled.trace(item.item.text_a), Target("fill_mask", item.place, item.word, "", item.foil)
        subject, *others = occlusion_of(trace, target, [item.marks[0], *item.others])
        right[kind] += subject > max(others)
    for kind in total:
        name = {"two distractors": "two other nouns"}.get(kind, f"a{'n' * (kind[0] in 'aeiou')} {kind}")
        assert f"| … with {name} | {right[kind]} of {total[kind]} (95%" in told
    assert f"| *Agreement*, all | {right.total()} of {total.total()} (95%" in told
    assert f"none of the {total.total() - right.total()} misses" in told
    answers = experiment(bundled, suite.items, "lens", "raw").before
    assert f"The model answers {(answers > 0).sum()} of the {len(answers)} correctly" in told


def test_guesses_beside_those_of_bert_base_are_the_models(bundled):
    rows = re.findall(
        r"^\| (\S.*\[MASK\]\.) \| .+ \| (.+) \|$", (ASSETS / "guide" / "models.md").read_text("utf-8"), re.MULTILINE
    )
    for text, stated in rows:
        best = bundled.fill_mask(text, top_k=3)[0].candidates
        assert stated == ", ".join(f"{one.token} {one.probability:.1%}" for one in best)
    assert len(rows) == 2


def test_what_is_copied_is_counted_in_the_card(lesson):
    copied, twice = re.search(
        r"For ([\d.]+%) \([\d.]+%\) it copies another word of the sentence, where ([\d.]+%)", text_of(CARD)
    ).groups()
    assert (
        f"for {copied} of 500 hidden words it takes another word of the sentence, though only {twice} do occur twice"
        in lesson(17)
    )


ROOT = Path(__file__).resolve().parents[2]
STATING = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", CARD, *sorted((ROOT / "assets" / "guide").rglob("*.md")))
TAKEN_TOGETHER = "\n".join(page.read_text("utf-8") for page in STATING)
WORDS = {"eighteen": 18, "nineteen": 19, "fourteen": 14, "thirteen": 13}
NAMED = re.compile(r"standard (?:error|deviation)|interval")


@pytest.mark.parametrize(("what", "number"), [("lessons", len(lessons())), ("tabs", len(TABS)), ("views", len(VIEWS))])
def test_pages_count_what_there_is(what, number):
    stated = re.findall(rf"\b(\d+|{'|'.join(WORDS)}) {what}\b|\| {what} \| (\d+)\b", TAKEN_TOGETHER)
    numbers = {WORDS.get(one) or int(one) for pair in stated for one in pair if one}
    assert numbers <= {number}
    assert numbers or what != "lessons", "the pages count the lessons, so that this test sees something"


def test_the_pieces_that_were_read_are_those_of_the_card():
    section = CARD.read_text("utf-8").partition("## The text")[2].partition("\n## ")[0]
    parts = [int(one) for one in re.findall(r"sentences,\s(\d+) million\s+pieces", section)]
    told = re.search(r"on (\d+) million pieces of free English text \((\d+) \+ (\d+) million\)", TAKEN_TOGETHER)
    assert [int(one) for one in told.groups()] == [sum(parts), *parts]


def test_the_score_on_the_page_is_that_of_hidden_content_words():
    share, of = re.search(r"Hidden words of content.*?right for ([\d.]+)% of (\d+)", CARD.read_text("utf-8"), re.DOTALL).groups()
    assert f"of {of} hidden content words" in guesses.SMALL
    assert f"{share}%" in guesses.SMALL
    assert re.findall(r"[\d.]+%", guesses.SMALL) == [f"{share}%"]


def strings_of_code():
    """Every string of the package that is no docstring, f-strings as one."""
    for path in sorted((ROOT / "explorer").rglob("*.py")):
        if "±" not in (text := path.read_text("utf-8")):  # to go through all trees takes seconds
            continue
        tree = ast.parse(text)
        inside = {
            id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in ast.walk(one) if part is not one
        }
        skipped = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)} | inside
        for one in ast.walk(tree):
            if isinstance(one, ast.JoinedStr | ast.Constant) and id(one) not in skipped and "±" in ast.unparse(one):
                yield f"{path.relative_to(ROOT)}: {ast.unparse(one)}"


def test_every_plus_minus_says_what_it_is():
    pages = "\n".join([TAKEN_TOGETHER, *(path.read_text("utf-8") for path in (ROOT / "assets" / "lessons").rglob("*.md"))])
    sentences = [one for one in re.split(r"(?<=[.:|])\s+(?=[A-Z|])", pages) if "±" in one]
    scripts = [path.read_text("utf-8") for path in (ROOT / "assets").rglob("*.js") if "±" in path.read_text("utf-8")]
    assert [one for one in (*strings_of_code(), *sentences, *scripts) if not NAMED.search(one)] == []
