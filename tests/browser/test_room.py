"""A room in real browsers: a board and three phones play a round of each kind, teach a head, follow, and come back."""

import csv
import io
import re

import pytest

from explorer.teaching.lessons.reading import lessons
from tests.browser.expecting import expect
from tests.browser.steps import settled
from tests.browser.test_everyone import AXE, wrong
from tests.tabs import open_tab, opened_tab

TAUGHT = [
    ("I love this sunny day", "happy"),
    ("My dog died", "sad"),
    ("What a lovely present", "happy"),
    ("I lost my keys and cried", "sad"),
    ("We won the game", "happy"),
]
ELSEWHERE = "<img src=x onerror=alert(1)> ${alert(1)}"


@pytest.fixture
def board(open_app):
    """The teacher's page with the board of an open room over it; the room is closed at the end."""
    page = open_app()
    settled(page)
    page.locator("#open-lessons").click()
    page.locator("#open-room").click()
    expect(page.locator("#room .bx-room-word")).to_be_visible()
    yield page
    page.evaluate(
        "() => { BertExplorer.lessons.close(); const { room } = BertExplorer; return room.classroom.room && room.act('end'); }"
    )
    expect(page.locator("#room, #room-chip")).to_have_count(0)


@pytest.fixture
def phone(new_page, served, board):
    """Opens the page of one more phone, which joins under a nickname."""
    word = board.evaluate("BertExplorer.room.classroom.room.word")

    def joined(name):
        page = new_page(viewport={"width": 420, "height": 860})
        page.goto(f"{served}/join?room={word}")
        page.get_by_label("A nickname").fill(name)
        page.get_by_role("button", name="Join").click()
        expect(page.locator("#seat b")).to_have_text(name)
        return page

    return joined


def press(board, name):
    board.locator("#room").get_by_role("button", name=name, exact=True).click()


def hidden(board, phones):
    """Nobody sees what the others guessed, nor BERT's answer."""
    expect(board.locator("#room .bx-room-bars, #room .bx-room-bert li")).to_have_count(0)
    for page in phones:
        expect(page.locator(".bx-best")).to_have_count(0)


def test_a_board_and_three_phones_play_a_round_of_each_kind(board, phone, served, bundled):
    names = ["Ann", "Bob", ELSEWHERE[:16]]
    phones = [phone(name) for name in names]
    people = board.locator("#room aside li")
    expect(people).to_have_count(3)
    expect(people.filter(has_text="<img")).to_have_count(1)

    # A blank: the board counts while the phones guess; the answers, and then BERT's, come when they are asked for.
    board.locator("#room [name=a]").fill("The capital of Japan is [MASK].")
    board.locator("#room [name=b]").fill("It is old.")
    press(board, "Fill the blank")
    for number, (page, guess) in enumerate(zip(phones, ["Tokyo", "antidisestablishment", "tokyo"], strict=True)):
        page.get_by_label("One word").fill(guess)
        page.get_by_role("button", name="Guess").click()
        expect(page.get_by_text("Your guess:")).to_contain_text(guess.lower())
        expect(board.locator("#room")).to_contain_text(f"{number + 1} of 3")
    expect(board.locator("#room .bx-room-at")).not_to_contain_text("tokyo")
    hidden(board, phones)

    # One phone vanishes, and comes back to its seat with what it had guessed.
    phones[1].goto("about:blank")
    expect(people.filter(has_text="Bob")).to_have_attribute("title", "away")
    phones[1].goto(f"{served}/join")
    expect(phones[1].get_by_text("Your guess:")).to_contain_text("antidisestablishment")
    expect(people.filter(has_text="Bob")).not_to_have_attribute("title", "away")

    press(board, "Show the room’s answers")
    first = board.locator("#room .bx-room-bars").first.locator("li").first
    expect(first).to_contain_text(re.compile("tokyo.*2"))
    expect(phones[2].get_by_text("This question is closed.")).to_be_visible()
    expect(board.locator("#room .bx-room-bert")).to_have_text("BERT?")
    press(board, "Show BERT’s answer")
    best = bundled.fill_mask("The capital of Japan is [MASK].", "It is old.")[0].candidates
    for page in phones:
        expect(page.locator(".bx-best li span")).to_have_text([one.token for one in best])
    expect(board.locator("#room .bx-room-bert li span")).to_have_text([one.token for one in best])
    earned = 10 if best[0].token == "tokyo" else 5
    expect(phones[0].locator(".bx-points")).to_have_text(f"{earned} points")
    expect(phones[1].get_by_text("is not a single piece")).to_be_visible()
    expect(board.locator("#room .bx-room-closest")).to_contain_text("Ann (“tokyo”")

    # A pair, and the target of a head.
    press(board, "Next")
    press(board, "Does B follow A?")
    for page in phones:
        page.get_by_role("button", name="B follows A").click()
        expect(page.get_by_role("button", name="B follows A")).to_have_attribute("aria-pressed", "true")
    expect(board.locator("#room")).to_contain_text("3 of 3 have answered")
    hidden(board, phones)
    press(board, "Show BERT’s answer")
    answer = bundled.next_sentence("The capital of Japan is [MASK].", "It is old.")
    right = "B follows A" if answer.is_next > 0.5 else "B is unrelated"
    expect(phones[2].locator(".bx-best li span").first).to_have_text(right)
    press(board, "Next")
    press(board, "Back to the page")
    settled(board)
    board.get_by_role("button", name="japan, token 4").first.click()
    settled(board)
    board.locator("#room-chip").click()
    press(board, "Where does a head look?")
    expect(phones[0].get_by_role("heading", level=1)).to_contain_text("In layer ")
    expect(phones[0].get_by_role("heading", level=1)).to_contain_text("“japan” attend to most")
    for number, page in enumerate(phones):
        page.locator(".bx-option").nth(number + 1).click()
        expect(page.get_by_text("Your guess:")).to_be_visible()
    expect(board.locator("#room")).to_contain_text("3 of 3 have answered")
    hidden(board, phones)
    press(board, "Show BERT’s answer")
    expect(phones[2].locator(".bx-best li")).to_have_count(5)
    press(board, "Next")
    expect(phones[2].get_by_text("You are in.")).to_be_visible()

    # Teaching a head together, and fooling it.
    press(board, "Teach together")
    for page, (text, label) in zip([*phones, *phones[:2]], TAUGHT, strict=True):
        page.get_by_label("Your own sentence").fill(text)
        page.get_by_label(label).check()
        page.get_by_role("button", name="Add").click()
        expect(page.locator(".bx-given li").filter(has_text=text)).to_be_visible()
    expect(board.locator("#room section h4")).to_have_text(["happy 3", "sad 2"])
    press(board, "Train the head")
    for page in phones[:2]:
        page.get_by_label("A sentence; 5 tries left").fill(f"This one is from {ELSEWHERE} {page.locator('#seat b').inner_text()}")
        page.get_by_label("sad").check()
        page.get_by_role("button", name="Try").click()
        expect(page.locator(".bx-given li")).to_contain_text("BERT says")
    expect(board.locator("#room .bx-room-tries li")).to_have_count(2)
    expect(board.locator("#room")).to_contain_text("Trained on 5 examples.")
    press(board, "End")

    # The record, which only the teacher takes.
    with board.expect_download() as saved:
        press(board, "Save the record")
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text("utf-8-sig"))))
    kinds = ["blank"] * 3 + ["pair"] * 3 + ["target"] * 3 + ["head"] + ["example"] * 5 + ["try"] * 2
    assert [row["kind"] for row in rows] == kinds
    assert {row["nickname"] for row in rows} == {*names, ""}

    # The end is told to everybody.
    board.evaluate("() => { window.confirm = (asked) => asked.startsWith('Close the room for everyone?'); }")
    press(board, "Close the room")
    for page in phones:
        expect(page.get_by_role("alert").first).to_have_text("This room is closed.")
    expect(board.locator("#room, #room-chip")).to_have_count(0)
    assert board.evaluate("() => getComputedStyle(document.body).overflowY") != "hidden", "the page can be scrolled again"


def test_a_phone_follows_until_it_lets_go(board, phone):
    page = phone("Ann")
    press(board, "Let phones follow this page")
    expect(page.get_by_role("heading", name="How does the sentence become an answer?")).to_be_visible()
    press(board, "Back to the page")
    open_tab(board, "Fill-mask")
    expect(page.get_by_role("heading", level=1)).to_contain_text("blank")
    settled(board)
    answer = board.locator(".bx-bars").first.locator("button, li").first.inner_text().split()[0]
    expect(page.locator("main")).to_contain_text(answer)
    board.keyboard.press("h")  # hides the answers, there too
    expect(page.locator("[data-part=guesses]")).to_have_count(0)
    board.keyboard.press("h")
    expect(page.locator("[data-part=guesses]")).to_be_visible()
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Explore by yourself").click()
    expect(popup.value.locator("#strip .bx-token").first).to_be_visible()
    expect(opened_tab(popup.value)).to_have_text("Fill-mask")
    popup.value.close()
    open_tab(board, "Tokens")
    expect(page.get_by_role("heading", level=1)).to_contain_text("read")


@pytest.mark.nightly
def test_a_class_answers_a_step_of_a_lesson_and_does_its_exercise(board, phone):
    lesson = next(one for one in lessons() if one.name == "07-masked-words")
    number, step = next((number, one) for number, one in enumerate(lesson.steps, start=1) if one.cover)
    right, wrong = (next(one for one in step.options if one.right == is_right) for is_right in (True, False))
    ann, bob = phones = [phone(name) for name in ("Ann", "Bob")]
    panel = board.locator("#lessons")
    press(board, "Let phones follow this page")
    press(board, "Back to the page")
    board.evaluate("(step) => BertExplorer.lessons.open(step)", f"{lesson.name}.{number}")
    panel.get_by_role("button", name="Ask the class").click()
    for page, answer in zip(phones, (right, wrong), strict=True):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page.locator(".bx-shown [data-part]")).to_have_count(1)  # the input only
        page.get_by_role("button", name=answer.text, exact=True).click()
    expect(board.locator("#room .bx-room-progress")).to_contain_text("2 of 2 have answered.")
    expect(board.locator("#room .bx-room-bars")).to_have_count(0)
    press(board, "Show the right answer")
    expect(board.locator("#room .bx-right em")).to_have_text("1")
    expect(ann.locator(".bx-points")).to_have_text("10 points")
    expect(bob.locator("main")).to_contain_text("Not quite.")
    press(board, "Back to the page")
    panel.locator(".bx-lesson-rest button").first.click()  # nothing is covered any more
    expect(bob.locator(".bx-shown [data-part=table]")).to_contain_text("p of the piece")

    # An exercise: given to all, done on a phone's own page, checked again, and told to the board.
    board.evaluate("(step) => BertExplorer.lessons.open(step)", f"{lesson.name}.7")
    exercise = lesson.exercises[f"{lesson.name}.7"]
    panel.get_by_role("button", name="Give it to the class").click()
    expect(bob.locator("main")).to_contain_text(exercise.task.split("*")[0].strip())
    with ann.expect_popup() as popup:
        ann.get_by_role("link", name="Do it").click()
    app = popup.value
    app.locator("#text-a textarea").fill(exercise.solution["a"])
    app.locator("#lessons").get_by_role("button", name="Check", exact=True).click()
    expect(app.locator(".bx-exercise-said")).to_contain_text("Your room has the result.")
    expect(panel.get_by_text("1 of 2 have done it.")).to_be_visible()
    panel.get_by_role("button", name="On the board").click()
    expect(board.locator("#room .bx-answered")).to_contain_text("Ann")
    press(board, "End")
    press(board, "Back to the page")

    # A step knows which round fits it.
    board.evaluate("(step) => BertExplorer.lessons.open(step)", f"{lesson.name}.2")
    panel.get_by_role("button", name="Round on the board: Fill the blank").click()
    expect(ann.locator(".bx-asked-text")).to_have_text("My ? is hairy.")


def test_the_board_keeps_a_selection_its_code_and_at_a_reload_the_room(board, phone):
    box = board.locator("#room [name=a]")
    box.fill("Nothing is hidden here.")
    box.press("Control+a")
    phone("Ann")
    expect(board.locator("#room")).to_contain_text("Ann")
    board.keyboard.press("Delete")
    expect(box).to_have_value("")

    asked = []
    board.on("request", lambda request: asked.append(request.url) if request.url.endswith("code.svg") else None)
    board.evaluate("() => { BertExplorer.room.classroom.room.address = 'http://bert.example/join'; }")
    board.evaluate("() => { document.dispatchEvent(new CustomEvent('bert:room')); }")
    for _ in range(3):
        press(board, "Close the door")
        press(board, "Open the door")
    board.wait_for_function("document.querySelector('#room aside img').naturalWidth > 0")
    assert len(asked) == 1, "it is fetched once, however often the board is drawn"

    word = board.evaluate("BertExplorer.room.classroom.room.word")
    board.reload()
    chip = board.locator("#room-chip")
    expect(chip).to_contain_text(f"Room {word.replace('-', ' ')} · 1 here")
    chip.click()
    expect(board.locator("#room aside li")).to_have_count(1)
    board.get_by_role("button", name="Send Ann out").click()
    expect(board.locator("#room aside li")).to_have_count(0)


def test_everybody_can_use_the_room(board, phone):
    page = phone("Ann")
    for one, box in ((board, "#room"), (page, "body")):
        one.evaluate(AXE)
        assert not wrong(one, box)
    press(board, "Teach together")
    expect(page.get_by_label("Your own sentence")).to_be_visible()
    assert not wrong(page, "body")
    press(board, "End")
    press(board, "Fill the blank")
    page.get_by_label("One word").fill("tokyo")
    page.keyboard.press("Enter")
    press(board, "Show BERT’s answer")
    expect(page.locator(".bx-best")).to_be_visible()
    for one, box in ((board, "#room"), (page, "body")):
        assert not wrong(one, box)
        one.evaluate("() => document.body.classList.toggle('dark')")
        assert not wrong(one, box, ["color-contrast"])
        one.evaluate("() => document.body.classList.toggle('dark')")
    for width in (420, 1440):
        board.set_viewport_size({"width": width, "height": 860})
        assert board.evaluate("() => document.querySelector('#room').scrollWidth - innerWidth") <= 0
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    board.keyboard.press("Escape")
    expect(board.locator("#room")).not_to_be_visible()


@pytest.mark.parametrize(
    ("status", "body"), [(503, '{"error": "Wait a minute."}'), pytest.param(404, "<h1>Not Found</h1>", marks=pytest.mark.nightly)]
)
def test_a_room_that_cannot_be_asked_for_a_while_keeps_its_seats_and_its_key(board, phone, status, body):
    ann = phone("Ann")
    for page, shown in ((board, "#room-chip"), (ann, "#seat b")):
        page.route("**/news", lambda route: route.fulfill(status=status, body=body))
        with page.expect_response("**/news") as answer:
            page.reload()
        assert answer.value.status == status
        page.wait_for_timeout(500)  # for what the page would make of it
        page.unroute("**/news")
        expect(page.locator(shown)).to_be_visible()
        page.problems[:] = [told for told in page.problems if f"status of {status} " not in told]
    expect(ann.locator("#seat b")).to_have_text("Ann")
    assert board.evaluate("BertExplorer.room.classroom.room.key")
