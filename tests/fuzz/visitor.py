"""Somebody who sends whatever they like over plain HTTP, and somebody else who must not notice."""

import http.client
import json
import secrets
import threading
import time
from urllib.parse import urlsplit

from tests.fuzz.promises import SILENCE, Answer, require

PATIENCE = 240  # seconds for an answer
JSON = {"Content-Type": "application/json"}


class Visitor:
    """One connection that is kept, and counts what is asked."""

    def __init__(self, address, secrets_of_the_machine=(), every=50):
        self.address, self.forbidden, self.every = address, tuple(secrets_of_the_machine), every
        self.netloc = urlsplit(address).netloc
        self.calls, self.refused, self._connection = 0, 0, None
        self.config = json.loads(self._exchange("GET", "/config").body)
        self.components = {component["id"]: component for component in self.config["components"]}
        self.others = Bystander(self)

    def ask(self, method, path, body=b"", headers=JSON, sent=""):
        """The answer, which keeps every promise; `sent` is what it may repeat of what only looks like a secret."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.calls += 1
        answer = self._exchange(method, path, data, headers)
        answer.check(self.forbidden, sent)
        self.refused += answer.status != 200
        if self.calls % self.every == 0:
            self.others.look()
        return answer

    def call(self, fn_index, data, session, event=None, sent="", query=""):
        """A handler of the page or an endpoint, asked directly."""
        return self.ask("POST", f"/gradio_api/run/predict{query}", _body(fn_index, data, session, event), sent=sent)

    def join(self, fn_index, data, session, event=None, sent=""):
        """The same by way of the queue, as the page does: what its stream tells in the end."""
        joined = self.ask("POST", "/gradio_api/queue/join", _body(fn_index, data, session, event), sent=sent)
        if joined.status != 200:
            return joined
        for message in self._stream(session):
            if message["msg"] in ("process_completed", "unexpected_error"):
                told = message.get("output") if message.get("success") else message.get("output") or {"error": message["message"]}
                answer = Answer(200, dict(joined.headers), json.dumps(told, separators=(",", ":")).encode())
                answer.check(self.forbidden, sent)
                self.refused += answer.data is None
                return answer
        require(False, "the queue ended a stream without an answer")
        return None

    def upload(self, name, data):
        """The file as a component is given it: a dictionary with its place on the server; None when it was refused."""
        edge = secrets.token_hex(8)
        quoted = name.encode("utf-8", "replace").replace(b'"', b"%22").replace(b"\r", b"").replace(b"\n", b"")
        head = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="'.encode() + quoted + b'"\r\n\r\n'
        body = head + data + f"\r\n--{edge}--\r\n".encode()
        self.calls += 1
        answer = self._exchange("POST", "/gradio_api/upload", body, {"Content-Type": f"multipart/form-data; boundary={edge}"})
        if answer.status != 200:
            answer.check(self.forbidden)
            return None
        return {"path": answer.json()[0], "meta": {"_type": "gradio.FileData"}, "orig_name": name, "size": len(data)}

    def _exchange(self, method, path, body=b"", headers=JSON):
        for attempt in (1, 2):
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self.netloc, timeout=PATIENCE)
            try:
                self._connection.request(method, path, body, headers)
                found = self._connection.getresponse()
                return Answer(found.status, {k.lower(): v for k, v in found.headers.items()}, found.read())
            except TimeoutError:
                self._connection = None
                require(False, f"no answer within {PATIENCE} seconds")
            except (OSError, http.client.HTTPException):  # a connection that was kept may have been closed
                self._connection = None
                require(attempt == 1, "the connection was broken off")
        return None

    def _stream(self, session):
        connection = http.client.HTTPConnection(self.netloc, timeout=PATIENCE)
        try:
            connection.request("GET", f"/gradio_api/queue/data?session_hash={session}")
            for line in connection.getresponse():
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))
        finally:
            connection.close()


def _body(fn_index, data, session, event=None):
    return {"data": data, "fn_index": fn_index, "session_hash": session, "event_data": event}


class Watch:
    """Somebody who asks all the time how the app is, and how long they waited at most."""

    def __init__(self, address):
        self._netloc, self._asked, self._longest = urlsplit(address).netloc, None, 0.0
        threading.Thread(target=self._ask, daemon=True).start()

    def promptly(self, send, tries=3):
        """What `send` gives, if everybody else is answered meanwhile. It is sent again, since the machine may have been busy."""
        waited = []
        for _ in range(tries):
            self._longest, self._asked = 0.0, time.monotonic()
            answer = send()
            waited.append(max(self._longest, time.monotonic() - self._asked))
            if waited[-1] <= SILENCE:
                return answer
        require(False, f"nobody else was answered for {min(waited):.1f} s")
        return None

    def _ask(self):
        while True:
            self._asked = time.monotonic()
            connection = http.client.HTTPConnection(self._netloc, timeout=PATIENCE)
            try:
                connection.request("GET", "/healthz")
                connection.getresponse().read()
            except OSError:  # the app has ended, or does not answer at all
                time.sleep(SILENCE)
            finally:
                connection.close()
            self._longest = max(self._longest, time.monotonic() - self._asked)
            time.sleep(0.05)


class Bystander:
    """Somebody else with calls whose answers are known, and a page of their own."""

    def __init__(self, visitor):
        self._visitor, self._session = visitor, secrets.token_hex(8)
        named = {one["api_name"]: one for one in visitor.config["dependencies"]}
        pressed = [one for one in visitor.config["dependencies"] if self._is_of(one, ("attention-look", "tokens-query"))]
        self._asked = [(named["tokens"], ["a quiet word", "", ""]), (named["fill_mask"], ["a quiet [MASK] .", "", 3, ""])]
        self._asked += [(one, [visitor.components[place]["props"].get("value") for place in one["inputs"]]) for one in pressed]
        self._known = self._answers()

    def look(self):
        """Raises AssertionError unless the server is well and answers as it did at first."""
        health = self._visitor._exchange("GET", "/healthz")
        require(health.status == 200 and health.json()["status"] == "ok", "the server is not well")
        require(self._answers() == self._known, "another visitor is answered otherwise than before")

    def _answers(self):
        bodies = [json.dumps(_body(listener["id"], data, self._session)).encode() for listener, data in self._asked]
        found = [self._visitor._exchange("POST", "/gradio_api/run/predict", body).json().get("data") for body in bodies]
        require(all(found), "another visitor is not answered")
        return found

    def _is_of(self, listener, elements):
        components = [self._visitor.components.get(one) for one, _ in listener["targets"]]
        return any(one and one["props"].get("elem_id") in elements for one in components)
