"""What a lesson covers and a class hides is nowhere to be seen, found or pointed at: in no text, attribute or title."""

import re

import pytest

from explorer.export import links
from explorer.export.place import slug
from explorer.page.examples import first_subject
from explorer.tabs import TABS
from explorer.teaching.lessons.reading import lessons
from explorer.ui.answers import says_of
from explorer.ui.steppers import suggestion_of
from explorer.ui.view import View, finding_of
from tests.browser.expecting import expect
from tests.browser.steps import settled, visit

COVERING = [(lesson, number) for lesson in lessons() for number, step in enumerate(lesson.steps, start=1) if step.cover]
CHOICES = [(tab, choice) for tab in TABS if not tab.optional for choice in tab.choices]
TELLING = ("overview", "attention", "hidden", "fill-mask", "next-sentence")
IDS = ["some", "the others"]
WORDS = """() => {
    const own = "#lessons, #text-a, #text-b, #header, script, style, head"; // the question, the input, and what never changes
    const found = [], says = /^(title|alt|value|placeholder|aria-.*|data-.*)$/;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = (one) => !one.closest(own) && one.checkVisibility({ visibilityProperty: true });
    while (walk.nextNode()) if (seen(walk.currentNode.parentElement)) found.push(walk.currentNode.data);
    for (const one of document.querySelectorAll("body *")) {
        if (!seen(one)) continue;
        for (const { name, value } of one.attributes) if (says.test(name)) found.push(value);
        if (one.matches("textarea, input")) found.push(one.value);
    }
    return found.join("\\n");
}"""
SAYS = f"""(answers) => {{
    const text = ({WORDS})().replace(/[\\s\\u200b]/g, "").toLowerCase();
    return answers.some((one) => text.includes(one));
}}"""
SENTENCE = 20  # characters: more than a word with its share
OUTLINES = """() => [...document.querySelectorAll(".bx-chart")].flatMap((one) => one._fullLayout?.shapes ?? [])
    .filter(({ name }) => name?.endsWith("telling")).length"""
BARE = "#says .bx-says > *, .bx-finding p, #suggestion .bx, .bx-unexpected, [data-spot], .bx-spot"


def split(pairs, tab_of):
    """The first pair with each tab that tells most, and the others for nightly tests."""
    first = [next(pair for pair in pairs if tab_of(*pair) == tab) for tab in TELLING]
    return [first, pytest.param([pair for pair in pairs if pair not in first], marks=pytest.mark.nightly)]


def answers_of(place):
    """Sentences and numbers that state what the model says of a place: status line, finding, suggestion."""
    subject = place.opened().subject
    views, tab = place.views, next(one for one in TABS if one.id == place.tab)
    said = says_of(subject) or {}
    found = [f"{one['answer']} {one['share']}" for one in said.get("answers", [])]
    found += [one["before"] for one in said.get("answers", []) if "before" in one]
    found += [one["share"] for one in said.get("unexpected", {}).get("words", [])]
    if finding := finding_of(views, subject):
        found.append(finding.text)
    names = tab.steppers if place.choice not in tab.without_steppers else ()
    if suggested := names and suggestion_of(subject, names, any(type(one).first is not View.first for one in views)):
        found.append(suggested["label"] or suggested["chips"][0])
    return found


def stated(step):
    """The answers that a step's own claims state, and that its input and its question do not."""
    given = " ".join([step.link["a"], step.link.get("b", ""), step.before, *(one.text for one in step.options)]).lower()
    words = re.findall(r'(?:token|finding|loss|check) (?:=|contains) "([^"]+)"', "\n".join(map(str, step.claims)))
    return [word for word in words if word.lower() not in given and len(word) > 2]


def arrived(page):
    """Wait until the page shows the place that it goes to."""
    page.wait_for_function("() => BertExplorer.link.linkState.visiting === null")
    settled(page)


def squeezed(text):
    """A text in small letters, without spaces: terms of the glossary are elements of their own."""
    return "".join(text.split()).lower()


def is_in(answer, text):
    """Whether a text has an answer: a sentence, or words of its own."""
    words = rf"(?<!\w){re.escape(' '.join(answer.split()).lower())}(?!\w)"
    return squeezed(answer) in squeezed(text) if len(answer) > SENTENCE else re.search(words, text)


def missing(page, answers, where):
    """Fails where the page has one of the answers, or an element that only says answers."""
    text = " ".join(page.evaluate(WORDS).split()).lower()
    said = [one for one in answers if is_in(one, text)]
    assert not said, f"{where}: the page has {said}"
    bare = page.locator(BARE).locator("visible=true").evaluate_all("(all) => all.map((one) => one.outerHTML)")
    assert not bare, f"{where}: {bare}"


@pytest.mark.own_page  # charts that were drawn before answers are hidden keep their outlines until they are drawn again
@pytest.mark.parametrize("steps", split(COVERING, lambda lesson, number: lesson.steps[number - 1].link["tab"]), ids=IDS)
def test_what_a_step_covers_is_nowhere_in_the_page(open_app, steps):
    page, known = open_app(), {}
    is_known = re.compile(r"/bx/.*(?<!\.js)$").search  # a library, which may come late, has many words
    page.on("response", lambda answer: is_known(answer.url) and known.update({answer.url: answer}))
    page.evaluate("() => localStorage.clear()")
    for lesson, number in steps:
        step, where = lesson.steps[number - 1], f"{lesson.name}.{number}"
        answers = [*answers_of(step.place), *stated(step)]
        assert answers, where
        page.evaluate("(step) => BertExplorer.lessons.open(step)", where)
        expect(page.locator("#lessons").get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page.locator("[data-covered]").locator("visible=true")).to_have_count(1)
        arrived(page)
        expect(page.locator("#text-a textarea")).to_have_value(step.link["a"])
        missing(page, answers, where)
        told = " ".join(answer.text() for answer in known.values()).lower()
        assert not [one for one in stated(step) if is_in(one, told)], where
        known.clear()
        page.locator("#lessons .bx-lesson-rest button").first.click()
        expect(page.locator("[data-covered]")).to_have_count(0)
        page.wait_for_function(SAYS, arg=[*map(squeezed, answers)])  # so it was withheld, not missing


@pytest.mark.parametrize("places", split(CHOICES, lambda tab, choice: tab.id), ids=IDS)
def test_what_is_hidden_is_nowhere_in_the_page(open_app, places):
    page = open_app()
    page.evaluate("() => BertExplorer.answers.setHidden(true)")
    for tab, choice in places:
        place = links.read({"tab": tab.id, "view": slug(choice)}, first_subject())
        visit(page, f"?{links.query(place)}")
        arrived(page)
        missing(page, [*answers_of(place), "tokyo"], f"{tab.label}, {choice}")
        assert not page.evaluate(OUTLINES), f"{tab.label}, {choice}"
    page.evaluate("() => BertExplorer.answers.setHidden(false)")
