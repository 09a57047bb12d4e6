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
from tests.browser.steps import at, settled, type_into, visit
from tests.browser.test_first_seconds import delayed

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
        covered = ".view" if step.cover == "view" else f"#{step.cover}"  # and, where it answers, the row of tokens
        expect(page.locator(f"{covered}[data-covered]").locator("visible=true")).to_have_count(1)
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


JAPAN = "?a=The+capital+of+Japan+is+[MASK].&b="
GUESSES, FINDING = "#fill-mask-guesses-guesses", "#fill-mask-finding"
SEEN = """() => window.seen = new MutationObserver(() => requestAnimationFrame(() => {
    window.leaked ||= document.querySelector('#fill-mask-guesses-guesses')?.innerText.replace(/Answer hidden.*/, '').trim() ?? '';
})).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })"""


@pytest.fixture
def hidden(open_app):
    """Opens a tab at a query, and hides the answers."""

    pages = []

    def opened(tab, query=JAPAN):
        pages.append(page := open_app(at(tab, query)))
        settled(page)
        page.evaluate("() => BertExplorer.answers.setHidden(true)")
        return page

    yield opened
    for page in pages:
        page.evaluate("() => BertExplorer.answers.setHidden(false)")


def cover(page, where):
    """What covers an answer."""
    return page.locator(where).get_by_role("button", name="Answer hidden")


def expect_covered(page, where, text):
    """It is in no text that can be read or found, and its place is filled by its cover."""
    block = page.locator(where)
    expect(cover(page, where)).to_be_visible()
    expect(cover(page, where)).to_have_attribute("aria-expanded", "false")
    expect(block.locator(".bx").first).to_be_hidden()
    assert text not in block.inner_text()
    assert text not in block.aria_snapshot()
    box, lid = block.bounding_box(), cover(page, where).bounding_box()
    assert lid["height"] == pytest.approx(box["height"], abs=1)


def test_guesses_are_covered_and_shown_one_by_one(hidden):
    page = hidden("Fill-mask")
    expect_covered(page, GUESSES, "tokyo")
    expect_covered(page, FINDING, "tokyo")
    page.keyboard.press("p")  # presented, the sentence to guess at is seen
    expect(page.locator("#strip").get_by_text("japan")).to_be_visible()
    page.keyboard.press("Escape")
    before = page.locator(GUESSES).bounding_box()
    cover(page, GUESSES).click()
    expect(page.locator(GUESSES).get_by_text("tokyo")).to_be_visible()
    expect(page.locator(GUESSES)).to_be_focused()
    assert page.locator(GUESSES).bounding_box() == before
    expect_covered(page, FINDING, "tokyo")
    cover(page, FINDING).press("Enter")
    expect(page.locator(FINDING)).to_contain_text("tokyo", use_inner_text=True)


def test_a_new_text_is_covered_before_it_is_seen(hidden):
    page = hidden("Fill-mask")
    cover(page, GUESSES).click()
    page.evaluate("() => { window.leaked = ''; }")
    type_into(page, "text-a", "The capital of France is [MASK].")
    settled(page)
    expect_covered(page, GUESSES, "paris")
    cover(page, GUESSES).click()
    expect(page.locator(GUESSES).locator(".bx-name").first).to_have_text("paris")
    page.evaluate(SEEN)
    page.evaluate("() => { window.leaked = ''; }")
    visit(page, at("Fill-mask", "?a=He+drank+a+cup+of+[MASK].&b="))
    expect_covered(page, GUESSES, "tea")
    assert "tea" not in page.evaluate("() => window.leaked")


def test_a_key_and_a_button_switch_it_and_a_reload_keeps_it(new_page, served):
    page = new_page()
    page.goto(f"{served}/{at('Fill-mask', JAPAN)}")
    switch = page.get_by_role("button", name="Hide answers")
    expect(page.locator(GUESSES).get_by_text("tokyo")).to_be_visible()
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.locator("#text-a textarea").press("h")
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.locator("#text-a textarea").press("Backspace")
    settled(page)
    switch.focus()
    page.keyboard.press("h")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect_covered(page, GUESSES, "tokyo")
    assert "answers" not in page.url
    settled(page)
    page.add_init_script(f"addEventListener('DOMContentLoaded', {SEEN})")
    page.reload()
    expect_covered(page, GUESSES, "tokyo")
    assert page.evaluate("() => window.leaked ?? ''") == ""
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(page.locator(GUESSES).get_by_text("tokyo")).to_be_visible()
    expect(page.locator(".bx-cover:visible")).to_have_count(0)


def test_the_picture_that_the_page_opens_with_is_covered_from_its_first_moment(page, served):
    page.add_init_script("sessionStorage.setItem('bert-answers', 'true')")
    go_on = delayed(page, served)
    expect(page.locator("#first [data-of=overview-finding] .bx-cover")).to_be_visible()
    answers = page.locator("#first :is(.bx-flow-box, .bx-flow-label, .bx-flow-output, .bx-says > *)")
    expect(answers.locator("visible=true")).to_have_count(0)
    go_on()
    expect(page.locator("#first")).to_have_count(0)
    expect_covered(page, "#overview-finding", "tokyo")
    expect_covered(page, "#overview-routes-picture", "tokyo")
    cover(page, "#overview-routes-picture").click()
    expect(page.locator("#overview-routes-picture .bx-flow-box").first).to_be_visible()
    expect_covered(page, "#overview-finding", "tokyo")
