"""A room in real browsers: a board and three phones play a round, teach a head, follow, and come back."""

import csv
import io
import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import settled
from tests.browser.test_everyone import AXE, wrong, wrong_in_both
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


def test_a_board_and_three_phones_play_a_round_and_teach_a_head(board, phone, served, bundled):
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
    expect(board.locator("html")).to_have_attribute("data-answers", "hidden")  # on the page behind the board, too

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
    expect(board.locator("html[data-answers]")).to_have_count(0)
    best = bundled.fill_mask("The capital of Japan is [MASK].", "It is old.")[0].candidates
    for page in phones:
        expect(page.locator(".bx-best li span")).to_have_text([one.token for one in best])
    expect(board.locator("#room .bx-room-bert li span")).to_have_text([one.token for one in best])
    earned = 10 if best[0].token == "tokyo" else 5
    expect(phones[0].locator(".bx-points")).to_have_text(f"{earned} points")
    expect(phones[1].get_by_text("is not a single piece")).to_be_visible()
    expect(board.locator("#room .bx-room-closest")).to_contain_text("Ann (“tokyo”")

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
    kinds = ["blank"] * 3 + ["head"] + ["example"] * 5 + ["try"] * 2
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


def test_the_board_keeps_a_selection_and_at_a_reload_the_room(board, phone):
    box = board.locator("#room [name=a]")
    box.fill("Nothing is hidden here.")
    box.press("Control+a")
    phone("Ann")
    expect(board.locator("#room")).to_contain_text("Ann")
    board.keyboard.press("Delete")
    expect(box).to_have_value("")

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
        assert not wrong_in_both(one, box)
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
