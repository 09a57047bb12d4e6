"""What must hold whatever was sent: an answer, or one sentence of ours that says what to do; and nothing of the machine."""

import json
import re
from dataclasses import dataclass

SILENCE = 1.0  # seconds for which nobody else is answered
LONGEST = 300  # characters of a sentence, without what it repeats
INSIDE = re.compile(r"Traceback \(most|File \"[^\"]*\", line|<class '|\bobject at 0x|site-packages|root:x:0:0")
PYTHON = re.compile(r"\w(Error|Exception)\b|NoneType|\bTraceback\b|pyo3|\b(ndarray|dtype|kwargs)\b")
UNFORESEEN = "Something went wrong"  # somebody should have foreseen it


def require(holds, promise):
    """Raises AssertionError with a promise that was broken."""
    if not holds:
        raise AssertionError(promise)


@dataclass(frozen=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        """The answer as JSON has it, which knows no NaN."""
        try:
            return json.loads(self.body, parse_constant=lambda name: require(False, f"{name} in an answer"))
        except ValueError:
            raise AssertionError(f"no JSON: {self.body[:200]!r}") from None

    def check(self, forbidden=(), sent=""):
        """Raises AssertionError unless this is an answer, or one sentence; `forbidden` are places of the machine."""
        told = self.json()
        require(isinstance(told, dict), "neither data nor an error")
        require(self.headers.get("content-type", "").startswith("application/json"), "a type that a browser may draw")
        text = self.body.decode()
        for secret in (json.dumps(sent)[1:-1], sent) if sent else ():
            text = text.replace(secret, "")
        require(not INSIDE.search(text), "something from inside")
        for place in forbidden:
            require(place not in text, f"a place of the machine: {place}")
        if "error" in told:
            check_sentence(told["error"], sent)
        else:
            require(self.status == 200, f"status {self.status} without a sentence")
            told_so = not told or told.keys() & {"event_id", "success", "word"} or isinstance(told.get("data"), list)
            require(told_so, "an answer without data")
        for sentence in _refusals_in(told) if '"kind":"error"' in text else ():
            check_sentence(sentence, sent)

    @property
    def data(self):
        """The values, None for a refusal."""
        return self.json().get("data")


def _refusals_in(told):
    """The sentences that the page is to show as refusals."""
    waiting = [told]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict | list):
            waiting += found.values() if isinstance(found, dict) else found
        if isinstance(found, dict) and found.get("kind") == "error":
            yield found.get("text")


def check_sentence(sentence, sent=""):
    """Raises AssertionError unless this is one sentence that a person can read and act on."""
    require(isinstance(sentence, str) and sentence, f"no sentence but {sentence!r}")
    require(UNFORESEEN not in sentence, "nobody had foreseen it")
    said = sentence.replace(sent, "") if sent else sentence
    require(said.endswith((".", "?", "!")), f"no full stop: {said!r}")
    require(sentence.isprintable(), f"more than a line, or letters that none are: {sentence!r}")
    require(len(said) < LONGEST, f"very long: {said!r}")
    require(not PYTHON.search(said), f"Python's own words: {said!r}")
