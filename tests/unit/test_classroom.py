"""Rooms of classes: what may be typed, BERT's own answers, who sees what, and how a room ends."""

import csv
import io
import json
import time

import numpy as np
import pytest

from explorer.bert import checkpoints
from explorer.core.errors import BusyError, InputError
from explorer.core.limits import ROOM_PEOPLE, ROOMS, VISITOR_ROOMS
from explorer.core.steps import finished
from explorer.export.tables import csv_of
from explorer.teaching.classroom import names, questions, rooms, rounds, showing, teaching
from explorer.teaching.classroom.questions import question_of_step
from explorer.teaching.classroom.room import AWAY, UNHEARD, Room
from explorer.teaching.classroom.tasks import POINTS, Solution, Task
from explorer.teaching.classroom.teaching import Teaching
from explorer.teaching.lessons.sending import within_a_line
from explorer.ui.subject import Selection, Subject
from tests.waiting import set_clock

BLANK = ("The capital of Japan is [MASK].", "It is a [MASK] city.")
PLACE = "v=1&tab=attention&view=one-head&a=The+keys+are+on+the+table.&layer=1&head=3"


@pytest.fixture
def room():
    return Room("blue-otter", checkpoints.BUNDLED)


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(*BLANK))


# ---- What is typed.


def test_words_of_rooms_are_new_and_fit_for_a_nickname():
    kinds, animals = names.KINDS.split(), names.ANIMALS.split()
    words, tries = len(set(kinds)) * (len(set(kinds)) - 1) * len(set(animals)), 60 * rooms.MISSES
    assert tries / words < 0.005, "the chance to find one given room in an hour from one address"
    taken = {names.new_word(()) for _ in range(50)}
    assert all(len(set(word.split("-"))) == 3 and names.as_word(word.replace("-", " ").title()) == word for word in taken)
    assert names.new_word(taken) not in taken
    for word in taken:
        assert names.as_word(word) == word
        assert len(names.nickname(names.suggestion(), ())) <= names.NICKNAME


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "Type the nickname first"),
        ("   \u200b ", "Type the nickname first"),
        (None, "as text"),
        (["a"], "as text"),
        ("x" * 17, "Shorten it to 16"),
        ("sh1t", "not for the projector"),
        ("s h i t", "not for the projector"),
        ("!!!", "needs a letter"),
        ("ann", "The room already has ann"),
    ],
)
def test_a_nickname_that_will_not_do_is_told_why(typed, why):
    with pytest.raises(InputError, match=why):
        names.nickname(typed, {"ann"})


ANNS = ["Аnn", "АNN", "ᎪNN", "Ａｎｎ", "𝐀𝐧𝐧", "ɑnn", "Αnn", "A nn", "Ann.", "Aոո", "ann\u200b"]
SIMILAR = [("Ian", "lan"), ("Bob", "B0b"), ("Amy", "Arny"), ("Рома", "Poma"), ("Коля", "Koля")]


@pytest.mark.parametrize(("one", "other"), [*((typed, "Ann") for typed in ANNS), *SIMILAR, *(pair[::-1] for pair in SIMILAR)])
def test_a_nickname_that_looks_like_that_of_another_is_refused(one, other):
    with pytest.raises(InputError, match="Choose another nickname"):
        names.nickname(one, [other])


def test_names_that_look_different_are_different():
    given = ["Ann", "Anna", "Änn", "Ann 1", "Ann 2", "Anton", "Аня", "Анна", "Άννα", "李雷", "李霞", "José", "Jose", "Tim", "Jim"]
    given += ["Nguyễn Thế", "محمّد", "กิ่งแก้ว", "लड़कों", "Zoë", "משה", "<b>Bob</b>", "${alert(1)}", "O'Neil"]
    given += [*(f"Pupil {number}" for number in range(1, 61))]
    taken = []
    for name in given:
        taken.append(names.nickname(name, taken))
    assert taken == given


@pytest.mark.parametrize("typed", ["Z\u0351\u036b\u0343algo", "A\u0300\u0301\u0302", "é\u0301\u0302", "a" + "\u20dd" * 3])
def test_piled_accents_are_refused_in_all_that_is_shown(typed):
    for read in (lambda text: names.nickname(text, ()), names.word, names.sentence):
        with pytest.raises(InputError, match="too many accents"):
            read(typed)


def test_what_cannot_be_seen_is_left_out_of_what_is_shown():
    assert names.sentence("a\u202eb\x00c\n d\te") == "abc d e"
    with pytest.raises(InputError, match="201 characters"):
        names.sentence("x" * 201)


def test_a_blank_is_ranked_by_the_models_own_probabilities(bundled, subject):
    question = questions.blank(subject)
    first, second = bundled.fill_mask(*BLANK, top_k=20)
    assert question.asked == 0
    assert [name for name, _ in question.answer["best"]] == [one.token for one in first.candidates[:5]]
    assert np.allclose(question.shares[:20], [one.probability for one in first.candidates])
    assert question.shares.sum() == pytest.approx(1, abs=1e-4)
    with pytest.raises(InputError, match="one word"):
        question.guess("warm water")
    for rank in (0, 7, 19):
        candidate = first.candidates[rank]
        assert question.guess(candidate.token) == questions.Guess(candidate.token, rank + 1, question.shares[rank])
    chosen = questions.blank(subject.select(token=second.position))
    assert chosen.asked == 1
    assert chosen.names[0] == second.candidates[0].token


def test_a_pair_has_two_answers_and_only_the_right_one_earns(bundled, subject):
    question, answer = questions.pair(subject), bundled.next_sentence(*BLANK)
    shares = dict(question.answer["best"])
    assert shares["B follows A"] == pytest.approx(answer.is_next)
    assert shares["B is unrelated"] == pytest.approx(answer.not_next)
    by_option = [question.guess(str(option)) for option in range(2)]
    assert sorted(question.points(guess) for guess in by_option) == [0, 10]
    assert [guess.name for guess in by_option] == list(question.options)
    for typed in ("2", "-1", "one", "", "٣"):
        with pytest.raises(InputError, match="Pick one"):
            question.guess(typed)


def test_the_target_of_a_head_is_the_column_with_most_weight(bundled):
    trace = bundled.trace("The man went to the store.")
    question = questions.target(Subject.of(trace, Selection(layer=2, head=4, token=3, picked=True)))
    weights = trace.attention(1)[3, 3]
    assert question.asked == 3
    assert question.options == tuple(trace.tokens)
    assert question.shares[0] == weights.max()
    guesses = [question.guess(str(option)) for option in range(len(weights))]
    assert [guess.share for guess in guesses] == pytest.approx(weights.tolist())
    assert sorted(guess.rank for guess in guesses) == list(range(1, len(weights) + 1))
    assert guesses[1].name == "the (1)", "which of the two is told"


# ---- Who sees what.


def test_bert_is_silent_until_it_is_revealed_and_the_others_always_are(room, subject):
    ann, bob = room.join("Ann"), room.join("Bob")
    room.ask(questions.blank(subject))
    right = room.asked().question.names[0]
    room.keep(ann, room.asked(), room.asked().question.guess(right))
    room.keep(bob, room.asked(), room.asked().question.guess("zebra"))
    before = [room.for_teacher(), room.for_person(ann), room.for_person(bob)]
    for told in before:
        assert not {"best", "closest", "rank", "share"} & told["round"].keys()
    assert right not in json.dumps(before[0])
    assert "zebra" not in json.dumps(before[0]), "the board is seen by all"
    assert before[0]["round"]["guessed"] == 2
    assert right not in json.dumps(before[2])
    assert "zebra" not in json.dumps(before[1])
    room.show_guesses()
    shown = [room.for_teacher(), room.for_person(ann), room.for_person(bob)]
    for told in shown:
        assert not {"best", "closest", "rank", "share"} & told["round"].keys()
    assert shown[0]["round"]["answers"] == [{"name": right, "count": 1}, {"name": "zebra", "count": 1}]
    assert right not in json.dumps(shown[2])
    with pytest.raises(InputError, match="No question is open"):
        room.keep(bob, room.asked(), room.asked().question.guess(right))
    room.reveal()
    room.reveal()
    assert (ann.points, bob.points) == (10, 0), "once"
    told = room.for_person(bob)["round"]
    assert told["best"][0][0] == right
    assert told["rank"] > 20
    assert room.for_teacher()["round"]["closest"][0] == ("Ann", right, 1)
    with pytest.raises(InputError, match="No question is open"):
        room.asked()


def test_the_question_of_a_step_keeps_its_answer_until_it_is_revealed(room):
    ann, bob = room.join("Ann"), room.join("Bob")
    question = question_of_step("07-masked-words", 4)
    room.ask(question)
    options = question.step.options
    right = next(place for place, option in enumerate(options) if option.right)
    wrong = (right + 1) % len(options)
    for person, option in ((ann, right), (bob, wrong)):
        room.keep(person, room.asked(), question.guess(str(option)))
    for told in (room.for_teacher()["round"], room.for_person(ann)["round"]):
        assert (told["kind"], told["options"]) == ("lesson", [option.text for option in options])
        assert "dog" in told["text"]
        assert told["point"] == "fill-mask-game-table"
        for hidden in ("right", "after", "feedback", "answers"):
            assert hidden not in told
    room.reveal()
    assert [room.for_person(one)["round"]["earned"] for one in (ann, bob)] == [10, 0]
    assert room.for_person(bob)["round"]["feedback"] == within_a_line(options[wrong].feedback)
    board = room.for_teacher()["round"]
    assert board["right"] == options[right].text
    assert {one["name"]: one["count"] for one in board["answers"]} == {options[right].text: 1, options[wrong].text: 1}


def test_no_screen_is_told_a_key_or_a_token(room, subject):
    ann = room.join("Ann")
    room.ask(questions.blank(subject))
    for told in (room.for_teacher(), room.for_person(ann)):
        assert room.key not in json.dumps(told)
        assert ann.token not in json.dumps(told)


def test_a_room_is_full_or_closed(room):
    fill(room, "")
    with pytest.raises(InputError, match="full"):
        room.join("One more")
    room.remove(next(iter(room.people)))
    room.is_open = False
    with pytest.raises(InputError, match="closed to new people"):
        room.join("One more")


def fill(room, address="192.0.2.7"):
    return [room.join(f"Pupil {number}", address) for number in range(ROOM_PEOPLE.most)]


def test_who_takes_all_seats_and_does_not_come_keeps_them_from_nobody_elsewhere(room):
    fill(room)
    with pytest.raises(InputError, match="full"):
        room.join("Another", "192.0.2.7")
    some = [room.join(f"Ann {number}", "192.0.2.8") for number in range(10)]
    for one in some:
        one.listens(1)
    assert len(room.people) == ROOM_PEOPLE.most
    assert all(one.id in room.people for one in some)


def test_seats_where_nobody_listens_go_to_who_comes_later(room, monkeypatch):
    pupils, now = fill(room), time.monotonic()
    for one in pupils[1:]:
        one.listens(1)
    set_clock(monkeypatch, "explorer.teaching.classroom.room", lambda: now + UNHEARD + 1)
    ann = room.join("Ann", "192.0.2.7")
    assert room.person_of(pupils[0].token) is None
    ann.listens(1)
    with pytest.raises(InputError, match="full"):
        room.join("Bob", "192.0.2.7")


def test_who_has_given_something_or_is_away_for_a_moment_keeps_the_seat(room, subject, monkeypatch):
    pupils, now = fill(room), time.monotonic()
    for one in pupils:
        one.listens(1)
        one.listens(-1)
    room.ask(questions.blank(subject))
    room.keep(pupils[0], room.asked(), room.asked().question.guess("Kyoto"))
    pupils[1].points = 1
    with pytest.raises(InputError, match="full"):
        room.join("Ann", "192.0.2.8")
    set_clock(monkeypatch, "explorer.teaching.classroom.room", lambda: now + AWAY + 1)
    for number in range(ROOM_PEOPLE.most - 2):
        room.join(f"Ann {number}", "192.0.2.8").listens(1)
    with pytest.raises(InputError, match="full"):
        room.join("One more", "192.0.2.8")
    assert {pupils[0].id, pupils[1].id} <= room.people.keys()


def test_who_is_sent_out_leaves_nothing(room, subject):
    ann = room.join("Ann")
    room.ask(questions.blank(subject))
    room.keep(ann, room.asked(), room.asked().question.guess("tokyo"))
    room.remove(ann.id)
    room.reveal()
    assert room.for_teacher()["people"] == []
    assert room.for_teacher()["round"]["answers"] == []
    room.begin(Teaching(("a", "b"), room.model))
    bob = room.join("Bob")
    room.taught().add(bob.id, "a", "one")
    room.remove(bob.id)
    assert not room.taught().examples


def test_a_guess_that_comes_after_its_owner_was_sent_out_is_not_kept(room, subject):
    ann = room.join("Ann")
    room.ask(questions.blank(subject))
    played = room.asked()
    room.remove(ann.id)
    with pytest.raises(InputError, match="no longer in this room"):
        room.keep(ann, played, played.question.guess("tokyo"))
    room.reveal()
    assert room.for_teacher()["round"]["closest"] == []


# ---- Teaching together.


TAUGHT = {
    "happy": ("I love this sunny day.", "What a lovely gift.", "We won the game.", "She smiled."),
    "sad": ("My dog died.", "I cried.", "He is all alone.", "We lost it."),
}


def taught_by_two() -> Teaching:
    taught = Teaching.of(["happy", "sad"], checkpoints.BUNDLED)
    for label, texts in TAUGHT.items():
        for number, text in enumerate(texts):
            taught.add("ann" if number < 2 else "bob", label, text)
    return taught


def test_everybody_gives_two_of_each_and_no_sentence_twice():
    taught = taught_by_two()
    with pytest.raises(InputError, match="You have added 2"):
        taught.add("ann", "happy", "One too many.")
    with pytest.raises(InputError, match="already"):
        taught.add("eve", "sad", "my DOG died.")
    with pytest.raises(InputError, match="one of the labels"):
        taught.add("eve", "angry", "No such label.")
    taught.take_back(taught.examples[0].number, "bob")
    assert len(taught.examples) == 8, "not theirs"
    taught.take_back(taught.examples[0].number, "ann")
    taught.add("ann", "happy", "Now there is room.")
    taught.take_back(taught.examples[0].number)
    assert len(taught.examples) == 7


def test_the_room_trains_the_head_that_fine_tuning_would(bundled):
    from explorer.finetune.compute.task import Task, make_plan, run_training
    from explorer.training.examples import Examples

    taught = taught_by_two()
    assert not taught.missing()
    head, accuracy = taught.learn(list(taught.examples))
    texts, labels = zip(*((one.text, one.label) for one in taught.examples), strict=True)
    plan = make_plan(bundled, -1, "mean", epochs=0)
    expected = finished(run_training(Task(bundled, Examples(texts, labels), plan)))
    probe = [("What a day!", ""), ("Nobody came.", "")]
    assert np.allclose(head.classify(bundled, probe), expected.predictor.classify(bundled, probe), atol=1e-5)
    assert accuracy == expected.history[expected.best].held_out["accuracy"]
    taught.store_head(head, accuracy, 8)
    (shares,) = head.classify(bundled, probe[:1])
    assert taught.answer("What a day!") == (head.labels[shares.argmax()], pytest.approx(shares.max()))


def test_who_fools_it_earns_points_and_only_so_often():
    taught = taught_by_two()
    with pytest.raises(InputError, match="not trained"):
        taught.answer("Hello.")
    for number in range(teaching.TRIES):
        text, meant = taught.check_try("ann", f"Try {number}.", "sad")
        assert taught.tried("ann", text, meant, ("happy" if number < 2 else "sad", 0.6)).fooled == (number < 2)
    assert taught.points("ann") == 2 * teaching.FOOLED
    with pytest.raises(InputError, match="let the others try"):
        taught.check_try("ann", "Once more.", "sad")
    with pytest.raises(InputError, match="has been used"):
        taught.check_try("bob", "try 1.", "sad")
    taught.store_head(None, 0.5, 8)
    assert taught.points("ann") == 0, "a new head is fooled anew"


# ---- The past, and the record.


def test_the_record_has_all_that_was_answered_by_nickname(room, subject):
    ann, bob = room.join("=Ann()"), room.join("Bob")
    room.ask(questions.blank(subject))
    right = room.asked().question.names[0]
    for person, word in ((ann, right), (bob, "=1+1")):
        room.keep(person, room.asked(), room.asked().question.guess(word))
    room.reveal()
    room.ask(question_of_step("07-masked-words", 4))
    room.keep(bob, room.asked(), room.asked().question.guess("0"))
    room.end_activity()
    room.ask(questions.pair(subject))  # which nobody answers
    taught = Teaching(("a", "b"), room.model)
    room.begin(taught)
    taught.add(ann.id, "a", "@one")
    taught.tried(bob.id, "two", "b", ("a", 0.75))
    room.end_activity()
    rows = [dict(zip(rounds.COLUMNS, row, strict=True)) for row in room.record().rows]
    assert [(one["kind"], one["nickname"], one["answer"], one["expected"], one["points"]) for one in rows] == [
        ("blank", "=Ann()", right, right, 10),
        ("blank", "Bob", "=1+1", right, 0),
        ("lesson", "Bob", question_of_step("07-masked-words", 4).step.options[0].text, "", 0),
        ("head", "", "not trained", "", None),
        ("example", "=Ann()", "a", "", None),
        ("try", "Bob", "b", "a", teaching.FOOLED),
    ]
    assert rows[0]["question"].endswith("(number 1)"), "of two blanks"
    cells = [cell for line in csv.reader(io.StringIO(csv_of(room.record()))) for cell in line]
    assert {"'=Ann()", "'=1+1", "'@one"} <= set(cells)
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")], "nothing that a spreadsheet would run"
    room.remove(bob.id)
    assert {row[5] for row in room.record().rows} == {"=Ann()", ""}, "who leaves takes it along"


def test_an_exercise_earns_once_and_leaves_with_its_owner(room):
    name, solution = "07-masked-words.7", Solution(("=1+1", ""), "")
    ann, bob = room.join("Ann"), room.join("Bob")
    room.solve(ann, Task.of(name), solution)  # before it is given
    assert "exercise" not in room.for_person(bob)
    room.give(Task.of(name))
    room.solve(ann, Task.of(name), solution)
    assert ann.points == POINTS
    assert [one["answered"] for one in room.for_teacher()["people"]] == [True, False]
    assert [room.for_person(one)["exercise"]["done"] for one in (ann, bob)] == [True, False]
    room.end_activity()
    assert room.for_teacher()["exercise"] is None
    assert [(one["name"], one["solved"]) for one in room.for_teacher()["exercises"]] == [(name, ["Ann"])]
    row = dict(zip(rounds.COLUMNS, room.record().rows[0], strict=True))
    assert (row["kind"], row["text_a"], row["nickname"], row["answer"]) == ("exercise", "=1+1", "Ann", "done")
    assert "*" not in row["question"]
    assert "'=1+1" in csv_of(room.record())
    room.remove(ann.id)
    assert not room.record().rows
    with pytest.raises(InputError, match="no longer in this room"):
        room.solve(ann, Task.of(name), solution)


# ---- What is shown to those who follow.


def test_phones_get_what_the_page_shows_and_no_hidden_answer(bundled):
    side = json.loads(showing.draw(PLACE))
    assert {view["name"] for view in side["views"]} >= {"attention/heads", "attention/head"}
    assert "tab=attention" in side["query"]
    blank = "v=1&tab=fill-mask&view=guesses&a=The+capital+of+Japan+is+%5BMASK%5D."
    answer = bundled.fill_mask("The capital of Japan is [MASK].")[0].candidates[0].token
    assert answer in json.dumps(json.loads(showing.draw(blank)))
    hidden = showing.draw(blank, answers_hidden=True).decode()
    assert answer not in hidden
    assert "japan" in hidden


def test_phones_do_not_get_what_a_lesson_covers():
    told = PLACE.replace("&layer=1&head=3", "")  # the finding there is about one cell
    parts = {part["name"] for view in json.loads(showing.draw(told))["views"] for part in view["parts"]}
    covered = json.loads(showing.draw(told, covered="attention-heads-grid"))
    left = {part["name"] for view in covered["views"] for part in view["parts"]}
    assert parts - left >= {"grid", "about"}, "beside what is covered, every answer"
    assert "heatmap" in left
    assert "telling" in json.dumps(json.loads(showing.draw(told)))
    assert "telling" not in json.dumps(covered), "nor is the cell outlined that the finding is about"
    assert covered["finding"] == ""
    whole = json.loads(showing.draw(told, covered="view"))
    assert all(view["parts"] == [] and view["note"] == showing.NOTHING for view in whole["views"])


def test_there_are_only_so_many_rooms_and_one_address_takes_no_more_than_its_share(monkeypatch):
    with monkeypatch.context() as few:
        few.setattr(ROOMS, "most", 2)
        all_rooms = rooms.Rooms()
        all_rooms.open(), all_rooms.open()
        with pytest.raises(BusyError, match="2 rooms"):
            all_rooms.open()
    monkeypatch.setattr("explorer.core.limits._public", True)
    all_rooms = rooms.Rooms()
    mine = [all_rooms.open("192.0.2.7") for _ in range(VISITOR_ROOMS.most)]
    with pytest.raises(BusyError, match="opened from your address"):
        all_rooms.open("192.0.2.7")
    others = all_rooms.open("192.0.2.8")
    all_rooms.end(mine[0])
    all_rooms.open("192.0.2.7")
    all_rooms.end(others)
    with pytest.raises(BusyError, match="opened from your address"):
        all_rooms.open("192.0.2.7")


def test_who_tries_word_after_word_has_to_wait_and_locks_nobody_out_of_a_seat():
    all_rooms = rooms.Rooms()
    room, other = all_rooms.open(), all_rooms.open()
    ann = room.join("Ann")
    for _ in range(rooms.MISSES + 1):
        with pytest.raises((InputError, BusyError)):
            all_rooms.find("no-such", "192.0.2.7", ann.token)
    assert all_rooms.find(room.word, "192.0.2.8") is room
    for token in (room.key, ann.token):
        assert all_rooms.find(room.word, "192.0.2.7", token) is room
        with pytest.raises(BusyError):
            all_rooms.find(other.word, "192.0.2.7", token)
    room.remove(ann.id)
    with pytest.raises(BusyError):
        all_rooms.find(room.word, "192.0.2.7", ann.token)


def test_a_room_that_nobody_uses_ends(room):
    ann = room.join("Ann")
    now = room.used
    assert not rooms.is_over(room, now + rooms.EMPTY - 1)
    assert rooms.is_over(room, now + rooms.EMPTY + 1)
    ann.listening = 1
    assert not rooms.is_over(room, now + rooms.EMPTY + 1)
    assert rooms.is_over(room, now + rooms.ALONE + 1)
    room.teacher_listening = 1
    assert not rooms.is_over(room, now + rooms.ALONE + 1)
    assert rooms.is_over(room, now + rooms.LONGEST + 1)
