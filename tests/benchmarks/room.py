"""A room of sixty phones: how long until what a teacher or a pupil does is on every screen."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

from tests.benchmarks import Comparison
from tests.benchmarks.load import app

PHONES = 60
ROUNDS = 5
LIMIT = 1.0  # seconds
PHONES_HAVE_IT = f"all {PHONES} phones have it within"
WHAT = {
    "guesses": f"the board has {PHONES} guesses at once within",
    "exercise": f"the board has {PHONES} checked exercises, handed in at once, within",
}
EXERCISE = "07-masked-words.7"  # solved by any text for whose blank BERT says milk
TEXTS = ("The [MASK] drank milk.", "A [MASK] barked.", "He sat on the [MASK].", "The sky is [MASK].", "She sings a [MASK].")


class Screen:
    """A page that listens, and remembers when it was told what last."""

    def __init__(self, port: int, word: str, token: str, follows: bool = True) -> None:
        self.port, self.word, self.token, self.follows = port, word, token, follows
        self.told: dict = {}
        self.changed = threading.Condition()
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.line.request("GET", f"/bx/rooms/{word}/news", headers={"Authorization": f"Bearer {token}"})
        self.answer = self.line.getresponse()
        threading.Thread(target=self._listen, daemon=True).start()

    def act(self, action: str, **body: object) -> None:
        """Do something in the room."""
        act(self.port, f"/{self.word}/{action}", self.token, body)

    def until(self, seen: Callable[[dict], bool]) -> float:
        """The moment at which the screen was told what is looked for."""
        with self.changed:
            if not self.changed.wait_for(lambda: seen(self.told), 60):
                raise TimeoutError("a screen was not told")
            return time.perf_counter()

    def _listen(self) -> None:
        while sent := self.answer.readline():
            if not sent.startswith(b"data: "):
                continue
            told = json.loads(sent[6:])
            if self.follows and told.get("follow") and told["follow"] != self.told.get("follow"):
                told["view"] = self._shown()
            with self.changed:
                self.told = told
                self.changed.notify_all()

    def _shown(self) -> int:
        """How many bytes the view has that the teacher shows; a phone draws them when they are all there."""
        own = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "gzip"}
        own.request("GET", f"/bx/rooms/{self.word}/shown", headers=headers)
        size = len(own.getresponse().read())
        own.close()
        return size


def act(port: int, path: str, token: str = "", body: dict | None = None) -> dict:
    """One request to the rooms."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    line.request("POST", f"/bx/rooms{path}", json.dumps(body or {}), {"Authorization": f"Bearer {token}"})
    answer = line.getresponse()
    told = json.loads(answer.read())
    line.close()
    assert answer.status == 200, told
    return told


def run() -> Iterator[Comparison]:
    """From the moment somebody presses until the last of all screens has it: the worst of some rounds, beside a second."""
    with app() as (port, _):
        room = act(port, "")
        word = room["word"]
        board = Screen(port, word, room["key"], follows=False)
        seats = [act(port, f"/{word}/join", body={"name": f"Pupil {number}"}) for number in range(PHONES)]
        phones = [Screen(port, word, seat["token"]) for seat in seats]
        board.until(lambda told: sum(one["here"] for one in told.get("people", ())) == PHONES)
        times: dict[str, list[float]] = {"follow": [], "question": [], "guesses": [], "answer": [], "exercise": []}
        with ThreadPoolExecutor(PHONES) as pool:
            for number, text in enumerate(TEXTS[:ROUNDS], start=1):
                query = urlencode({"v": 1, "tab": "attention", "a": text})
                times["follow"].append(_until_all(phones, lambda q=query: board.act("follow", query=q), _shows(phones)))
                asked = lambda told, n=number: told.get("round", {}).get("number") == n  # noqa: E731
                times["question"].append(_until_all(phones, lambda q=query: board.act("ask", kind="blank", query=q), asked))
                start = time.perf_counter()
                list(pool.map(lambda phone: phone.act("guess", guess="dog"), phones))
                times["guesses"].append(board.until(lambda told: told["round"]["guessed"] == PHONES) - start)
                times["answer"].append(_until_all(phones, lambda: board.act("reveal"), lambda told: told["round"]["revealed"]))
                board.act("stop")
            times["exercise"].append(_all_solve(board, phones, pool))
    for name, taken in times.items():
        yield Comparison(f"room · {name}", WHAT.get(name, PHONES_HAVE_IT), "the limit", max(taken), LIMIT, "s", "ratio at most 1")


def _all_solve(board: Screen, phones: list[Screen], pool: ThreadPoolExecutor) -> float:
    """Seconds until the board knows that all have solved an exercise, each with a text of their own, handed in at once."""
    board.act("give", exercise=EXERCISE)
    for phone in phones:
        phone.until(lambda told: "exercise" in told)
    solution = {"v": 1, "tab": "fill-mask", "a": "The cow gives us [MASK]."}
    queries = [urlencode({**solution, "b": f"It is day {number}."}) for number in range(PHONES)]
    start = time.perf_counter()
    list(pool.map(lambda phone, query: phone.act("exercise", exercise=EXERCISE, query=query), phones, queries))
    return board.until(lambda told: len(told["exercise"]["solved"]) == PHONES) - start


def _shows(phones: list[Screen]) -> Callable[[dict], bool]:
    before = max(phone.told.get("follow", 0) for phone in phones)
    return lambda told: told.get("follow", 0) > before and bool(told.get("view"))


def _until_all(phones: list[Screen], press: Callable[[], None], seen: Callable[[dict], bool]) -> float:
    """Seconds until the last phone was told."""
    start = time.perf_counter()
    press()
    return max(phone.until(seen) for phone in phones) - start
