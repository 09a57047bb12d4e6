"""What the finder looks through: each entry leads somewhere, and the file of words names what exists."""

import re
from urllib.parse import parse_qsl

import explorer
from explorer.core.paths import ASSETS
from explorer.export import links
from explorer.guide import finding
from explorer.guide.pages import pages
from explorer.page.examples import first_subject
from explorer.tabs import TABS, VIEWS
from explorer.teaching.lessons.reading import lessons


def test_the_words_are_about_every_view_that_one_looks_for_and_of_nothing_else():
    plain = {target for target in finding.words() if not target.startswith(("!", "@", "=")) and "?" not in target}
    assert plain <= VIEWS.keys()
    first = {next(iter(tab.choices.values()))[-1][-1] for tab in TABS}
    assert len(plain) > len(VIEWS) / 2 >= len(first)


def test_every_answer_leads_to_a_section_of_the_guide():
    answers = {target[1:] for target in finding.words() if target.startswith("@")}
    sections = {f"{page.name}#{section.anchor}" for page in pages().values() for section in page.sections}
    assert answers
    assert answers <= sections | pages().keys()


def test_every_query_opens_what_it_says():
    for entry in finding.entries() + finding.heads_of(""):
        if isinstance(entry["go"], str) and entry["go"].startswith("tab="):
            place = links.read(dict(parse_qsl(entry["go"])), first_subject())
            assert place.told == (), entry
            assert f"tab={place.tab}" in entry["go"]


def test_lessons_steps_terms_and_heads_are_there():
    kinds = [entry["kind"] for entry in finding.entries() + finding.heads_of("")]
    assert kinds.count("lesson") == len(lessons())
    assert kinds.count("step") == sum(len(lesson.steps) for lesson in lessons())
    assert kinds.count("view") >= len(VIEWS)
    assert (kinds.count("layer"), kinds.count("head")) == (6, 6 * 12)


def test_a_habit_leads_to_the_head_that_has_it_most():
    found = [entry["title"] for entry in finding.heads_of("") if entry["title"].endswith(": previous token")]
    assert found[0] == "Head 1.3: previous token"


def test_heads_are_those_of_the_model_that_is_open(tiny_folder):
    """Without an atlas they have no habit; a model that is not loaded has none here, and is not loaded for it."""
    tiny = explorer.load(tiny_folder)  # a test before may have loaded so many others that it is no longer open
    size = tiny.capabilities
    heads = [entry for entry in finding.heads_of(tiny.checkpoint.name) if entry["kind"] == "head"]
    assert [entry["title"] for entry in heads[:2]] == ["Head 1.1", "Head 1.2"]
    assert len(heads) == size.layers * size.heads
    assert finding.heads_of("never-loaded/model") == []


def test_words_that_name_an_example_a_lesson_or_a_term_name_one_that_exists():
    titles = {entry["title"] for entry in finding.entries() if entry["kind"] in ("example", "lesson", "term")}
    assert {target[1:] for target in finding.words() if target.startswith("=")} <= titles


def test_a_concept_has_several_words_none_twice():
    assert all(len(set(row)) == len(row) > 1 for row in finding.concepts())


def test_a_view_is_found_by_its_settings_and_by_what_the_glossary_calls_it():
    near = {entry["title"]: entry["near"] for entry in finding.entries() if entry["kind"] == "view"}
    assert "tuned lens" in near["What would BERT guess after each layer?"]
    assert "wordpiece" in near["What does BERT read?"]


def test_every_action_is_one_of_the_page():
    script = (ASSETS / "page" / "finder.js").read_text("utf-8")
    listed = script.partition("const actions = {\n")[2].partition("\n};")[0]
    actions = {f"!{name}" for name in re.findall(r"^  (\w+)[:,]", listed, re.MULTILINE)}
    assert actions == {target for target in finding.words() if target.startswith("!")}


def test_a_word_for_an_example_leads_to_its_texts():
    for entry in finding.entries():
        if entry["kind"] == "example":
            place = links.read(dict(parse_qsl(entry["go"], keep_blank_values=True)), first_subject())
            assert (place.told, f"{place.subject.text_a} {place.subject.text_b}".strip()) == ((), entry["where"])
