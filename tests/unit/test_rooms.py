"""Rooms over HTTP: who may do what, what a stream tells, and what nobody means well with."""

import csv
import io
import json
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from explorer.export import links
from explorer.server import rooms
from explorer.tabs import TABS
from explorer.teaching.classroom.room import TEACHER
from explorer.teaching.classroom.rooms import MISSES, TOO_MANY
from explorer.teaching.lessons.exercises import UNKNOWN
from explorer.teaching.lessons.reading import lessons
from tests.asking import ask
from tests.waiting import at_once, waited

QUERY = "v=1&tab=attention&a=The+capital+of+Japan+is+%5BMASK%5D.&b=It+is+old."


@pytest.fixture
def look(served):
    """Asks for something of a room; gives the status and the body."""

    def looked(path, token="", method="GET", data=None):
        headers = {"Content_Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        return ask(served, method, f"/bx/rooms{path}", data, **headers)[::2]

    return looked


@pytest.fixture
def do(look):
    """Does something in a room and gives the answer, or the status and sentence of a refusal."""

    def done(path, token="", body=None, data=None):
        status, answer = look(path, token, "POST", json.dumps(body or {}) if data is None else data)
        return json.loads(answer) if status == 200 else (status, json.loads(answer)["error"])

    return done


@pytest.fixture
def room(do):
    opened = do("")
    yield opened
    do(f"/{opened['word']}/end", opened["key"])


@pytest.fixture
def misses(serving):
    """The wrong words that are remembered; none before, and none after."""
    route = next(route for route in serving.app.routes if getattr(route, "path", "") == "/bx/rooms/{word}/news")
    remembered = route.endpoint.__self__.rooms._misses._times
    remembered.clear()
    yield remembered
    remembered.clear()


@pytest.fixture
def ann(do, room):
    return do(f"/{room['word']}/join", body={"name": "Ann"})


@contextmanager
def listening(served, word, token):
    """What a screen is told, message by message."""
    address = urlsplit(served)
    line = HTTPConnection(address.hostname, address.port, timeout=20)
    line.request("GET", f"/bx/rooms/{word}/news", headers={"Authorization": f"Bearer {token}"})
    answer = line.getresponse()
    assert answer.status == 200
    assert answer.getheader("content-type").startswith("text/event-stream")

    def told():
        while not (sent := answer.readline()).startswith(b"data: "):
            assert sent, "the stream ended"
        return json.loads(sent[6:])

    yield told
    answer.close()
    line.close()


def test_a_solved_exercise_is_checked_again_and_told_to_the_board(served, do, room, ann):
    word, name, step = room["word"], "03-one-head.1", lessons()[3].steps[0]
    assert do(f"/{word}/give", room["key"], {"exercise": name}) == {}

    def solved(query, name=name):
        return do(f"/{word}/exercise", ann["token"], {"exercise": name, "query": query})

    with listening(served, word, room["key"]) as board, listening(served, word, ann["token"]) as phone:
        told = phone()["exercise"]
        assert (told["query"], told["done"]) == (links.query(step.place), False)
        begun = solved(links.query(step.place))
        assert not begun["done"]
        assert begun["told"].startswith("Not yet: ")
        assert solved(links.query(step.solved))["done"]
        told = board()
        while not told["exercise"]["solved"]:
            told = board()
        assert told["exercise"]["solved"] == ["Ann"]
        assert told["people"][0]["points"] == 10
        assert phone()["exercise"]["done"]
    assert solved("v=1", "03-one-head.9") == (400, UNKNOWN)
    assert not solved(None)["done"]
    _, *rows = csv.reader(io.StringIO(do(f"/{word}/record", room["key"])["csv"]))
    assert [(row[1], row[3], row[5]) for row in rows] == [("exercise", step.link["a"], "Ann")]
    assert rows[0][6].startswith("the weight from “on” to “table” is 0.9")


TEACHERS = ("ask", "guesses", "reveal", "stop", "record", "end")
TEACHERS += ("follow", "give", "teach", "train", "strike", "remove", "door")


def test_only_the_teacher_and_only_people_of_the_room_may(do, room, ann):
    for action in TEACHERS:
        assert do(f"/{room['word']}/{action}", ann["token"]) == (403, rooms.NOT_YOURS), action
        assert do(f"/{room['word']}/{action}") == do(f"/{room['word']}/{action}", "x" * 32) == (403, rooms.OUT), action
    for action in ("guess", "example", "try", "exercise", "take-back", "leave"):
        assert do(f"/{room['word']}/{action}", "nobody") == (403, rooms.OUT), action
        assert do(f"/{room['word']}/{action}", room["key"])[0] == 400, action


def test_a_key_opens_one_room_only(do, room, ann):
    other = do("")
    assert do(f"/{other['word']}/end", room["key"]) == (403, rooms.OUT)
    assert do(f"/{other['word']}/guess", ann["token"], {"guess": "a"}) == (403, rooms.OUT)
    assert do(f"/{other['word']}/end", other["key"]) == {}


@pytest.mark.parametrize(
    "data", [b"[]", b"{", b'"x"', b"\xff\xfe", b"null", b"[" * 100_000, b'{"name": ["a"]}', b'{"name": {}, "x": 1}']
)
def test_what_is_no_nickname_is_told(do, room, data):
    status, sentence = do(f"/{room['word']}/join", data=data)
    assert status == 400
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("ask", {"kind": "blank"}),
        ("ask", {"kind": {}, "query": QUERY}),
        ("ask", {"kind": "blank", "query": "a=nothing+hidden"}),
        ("ask", {"kind": "pair", "query": "a=alone"}),
        ("ask", {"kind": "blank", "query": "a=" + "x" * 20_000}),
        ("ask", {"kind": "lesson", "lesson": "07-masked-words", "step": 9}),
        ("follow", {"query": ["a"]}),
        ("give", {"exercise": "03-one-head.9"}),
        ("give", {"exercise": ["a"]}),
        ("teach", {"labels": "ab"}),
        ("train", {}),
        ("strike", {"number": 1}),
        ("nothing", {}),
    ],
)
def test_what_a_teacher_cannot_do_is_told_and_the_room_goes_on(do, room, action, body):
    status, sentence = do(f"/{room['word']}/{action}", room["key"], body)
    assert status == 400
    assert sentence.endswith(".")
    assert do(f"/{room['word']}/door", room["key"], {"open": True}) == {}


def test_wrong_words_take_no_seat_and_no_key_from_who_is_behind_the_same_address(served, do, look, room, ann, misses):
    word = room["word"]
    assert do(f"/{word}/follow", room["key"], {"query": QUERY}) == {}
    for _ in range(MISSES):
        assert look("/nope/code.svg")[0] == 404
    for what in ("code.svg", "news", "shown"):
        status, told = look(f"/{word}/{what}")
        assert (status, json.loads(told)) == (503, {"error": TOO_MANY}), "a stranger waits, and is not told that it is over"
    for token in (room["key"], ann["token"]):
        with listening(served, word, token) as screen:
            assert screen()["word"] == word
        assert look(f"/{word}/shown", token)[0] == look(f"/{word}/code.svg", token)[0] == 200
    assert do(f"/{word}/ask", room["key"], {"kind": "blank", "query": QUERY}) == {}
    assert do(f"/{word}/guess", ann["token"], {"guess": "Tokyo"}) == {}


def test_only_a_room_that_is_gone_or_a_seat_that_was_taken_is_told_to_be_over(do, look, room, ann, misses):
    word = room["word"]
    status, told = look(f"/{word}/news", "nobody")
    assert (status, json.loads(told)) == (403, {"error": rooms.OUT, "over": True})
    status, told = look("/no-room/news", ann["token"])
    assert (status, json.loads(told)["over"]) == (404, True)
    assert do(f"/{word}/end", room["key"]) == {}
    assert json.loads(look(f"/{word}/news", ann["token"])[1])["over"]


def test_only_who_is_in_the_room_sees_what_is_shown(do, look, room, ann):
    shown = f"/{room['word']}/shown"
    assert do(f"/{room['word']}/follow", room["key"], {"query": QUERY}) == {}
    status, answer = look(shown, ann["token"])
    assert (status, json.loads(answer)["question"]) == (200, next(tab.question for tab in TABS if tab.id == "attention"))
    assert [look(shown, token)[0] for token in ("", "nobody")] == [403, 403]
    assert do(f"/{room['word']}/follow", room["key"], {}) == {}
    assert look(shown, ann["token"])[0] == 404


def test_a_change_that_comes_right_after_another_is_told_too():
    async def play():
        desk = rooms.Desk(None, "127.0.0.1")
        room = desk.rooms.open()
        ann, told = room.join("Ann"), []
        board, phone = desk._stream(room, TEACHER), desk._stream(room, ann)
        for stream in (board, phone):
            await anext(stream)
        for points in (1, 2, 3):
            ann.points = points
            room.changed()
            told.append([json.loads((await anext(stream)).removeprefix("data: ")) for stream in (board, phone)])
        await phone.aclose()
        told.append(json.loads((await anext(board)).removeprefix("data: ")))
        await board.aclose()
        return told

    *each, last = waited(play())
    assert [phone["points"] for _, phone in each] == [1, 2, 3]
    assert [board["people"][0]["points"] for board, _ in each] == [1, 2, 3]
    assert [board["people"][0]["here"] for board, _ in each] == [True] * 3
    assert not last["people"][0]["here"]


def test_behind_a_password_a_teacher_opens_and_a_class_joins_by_its_word(locked):
    assert ask(locked, "POST", "/bx/rooms", b"{}")[0] == 401
    assert ask(locked, "GET", "/join")[0] == 200


@pytest.mark.parametrize(
    ("host", "asked", "address"),
    [
        ("127.0.0.1", "localhost:7860", ""),
        ("0.0.0.0", "localhost:7860", "http://192.0.2.9:7860/join"),
        ("0.0.0.0", "10.1.2.3:7860", "http://10.1.2.3:7860/join"),
        ("0.0.0.0", "bert.example", "http://bert.example/join"),
    ],
)
def test_phones_are_told_an_address_that_they_can_reach(monkeypatch, host, asked, address):
    from starlette.requests import Request as Asked

    monkeypatch.setattr(rooms, "own_address", lambda: "192.0.2.9")
    scope = {"type": "http", "scheme": "http", "path": "/", "query_string": b"", "headers": [(b"host", asked.encode())]}
    assert rooms.join_address(Asked(scope), host) == address


def test_a_class_at_once_loses_no_guess(served, do, room):
    word = room["word"]
    people = [do(f"/{word}/join", body={"name": f"Pupil {number}"}) for number in range(30)]
    do(f"/{word}/ask", room["key"], {"kind": "pair", "query": QUERY})
    at_once(30, lambda number: do(f"/{word}/guess", people[number]["token"], {"guess": str(number % 2)}))
    do(f"/{word}/guesses", room["key"])
    with listening(served, word, room["key"]) as board:
        told = board()["round"]
    assert told["guessed"] == 30
    assert [one["count"] for one in told["answers"]] == [15, 15]
