"""nginx in front of two front ends, as the guide says to set it up: what it prints, with this machine's ports and files."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.benchmarks.startup import ROOT, server, wait_for
from tests.ports import free_port

NAME = "bert.school.example"
LONGEST = 60  # seconds that something may stay away before a test gives up on it
AROUND = """
{user} daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {printed}
}}
"""


def program() -> str:
    """nginx on this machine; without it the test is skipped."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not (found and shutil.which("openssl")):
        pytest.skip("no nginx or no openssl on this machine; install both to try the app behind a real proxy")
    return found


def printed() -> str:
    """The configuration in the guide."""
    guide = (ROOT / "assets" / "guide" / "scaling.md").read_text("utf-8")
    (found,) = re.findall(r"^```nginx\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    return found


def configuration(folder: Path, port: int, fronts: list[int]) -> str:
    """The same with the ports and the certificate of a test, all of which must be in it."""
    text = printed()
    given = {"listen 443 ssl": f"listen {port} ssl", "/etc/ssl/bert.": f"{folder}/bert."}
    given |= {f"10.0.0.{number}:7860": f"127.0.0.1:{front}" for number, front in enumerate(fronts, start=1)}
    for told, here in given.items():
        assert told in text
        text = text.replace(told, here)
    user = "user root;" if os.geteuid() == 0 else ""  # the folder of a test is for nobody else
    return AROUND.format(user=user, folder=folder, printed=text)


@dataclass
class Proxied:
    """The app behind its proxy."""

    port: int
    fronts: list[int]
    certificate: Path
    runs: Path

    @property
    def address(self) -> str:
        """As a browser knows it."""
        return f"https://{NAME}:{self.port}"


@contextlib.contextmanager
def proxied(folder: Path, **environment: str) -> Iterator[Proxied]:
    """nginx and two front ends with one folder of runs; all end with the block."""
    nginx, port, fronts = program(), free_port(), [free_port(), free_port()]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={NAME}"]
    request += ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(folder / "bert.key"), "-out", str(folder / "bert.crt")]
    subprocess.run(request, check=True, capture_output=True)
    (folder / "nginx.conf").write_text(configuration(folder, port, fronts))
    own = {"BERT_EXPLORER_HOSTS": NAME, "FORWARDED_ALLOW_IPS": "127.0.0.1", "BERT_EXPLORER_PROFILE": "public"}
    own |= {"BERT_EXPLORER_RUNS": str(folder / "runs"), "HF_HUB_OFFLINE": "1", **environment}
    with contextlib.ExitStack() as stack:
        for number, front in enumerate(fronts):
            log = stack.enter_context((folder / f"front-{number}.log").open("w"))
            command = ["app.py", "--port", str(front)]
            stack.enter_context(server(command, env=os.environ | own, stdout=log, stderr=subprocess.STDOUT))
        for front in fronts:
            wait_for(front)
        process = subprocess.Popen([nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")])
        stack.callback(process.wait)
        stack.callback(process.terminate)
        _wait_for_line(port)
        yield Proxied(port, fronts, folder / "bert.crt", folder / "runs")


def _wait_for_line(port: int) -> None:
    until = time.monotonic() + LONGEST
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < until, "nginx does not listen"
            time.sleep(0.05)


class Visitor:
    """A browser without a page: it keeps its cookie, and comes from an address of its own."""

    def __init__(self, app: Proxied, source: str = "127.0.0.2", cookie: str = "", **headers: str) -> None:
        self._app, self._source, self.cookie, self._headers = app, source, cookie, headers
        self._trust = ssl.create_default_context(cafile=str(app.certificate))

    def line(self) -> http.client.HTTPConnection:
        plain = socket.create_connection(("127.0.0.1", self._app.port), LONGEST, (self._source, 0))
        line = http.client.HTTPConnection(NAME, self._app.port)
        line.sock = self._trust.wrap_socket(plain, server_hostname=NAME)
        return line

    def answer(self, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
        """What is answered, whose body is still to come."""
        line = self.line()
        sent = {"Content-Type": "application/json", **self._headers, **headers}
        if self.cookie:
            sent["Cookie"] = f"front={self.cookie}"
        line.request("GET" if body is None else "POST", path, body, sent)
        answer = line.getresponse()
        if found := re.search(r"front=(\w+)", answer.getheader("set-cookie") or ""):
            self.cookie = found[1]
        return answer

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Status and body."""
        answer = self.answer(path, **headers)
        return answer.status, answer.read()

    def post(self, path: str, token: str = "", **body: object) -> tuple[int, dict]:
        """Status and JSON."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = self.answer(path, json.dumps(body).encode(), **headers)
        return answer.status, json.loads(answer.read())

    def ask(self, name: str, *arguments: object) -> tuple[int, dict]:
        """What an endpoint answers."""
        return self.post(f"/gradio_api/run/{name}", data=arguments)

    def upload(self, content: bytes) -> tuple[int, bytes]:
        """Sends a file."""
        form = (
            b'--edge\r\nContent-Disposition: form-data; name="files"; filename="texts.csv"\r\n\r\n'
            + content
            + b"\r\n--edge--\r\n"
        )
        answer = self.answer("/gradio_api/upload", form, **{"Content-Type": "multipart/form-data; boundary=edge"})
        return answer.status, answer.read()

    def queued(self, name: str, session: str, *arguments: object) -> list[dict]:
        """All that is told of a call by way of Gradio's queue, the call and its answers being requests of their own."""
        config = json.loads(self.get("/config")[1])
        number = next(one["id"] for one in config["dependencies"] if one["api_name"] == name)
        status, told = self.post("/gradio_api/queue/join", data=arguments, fn_index=number, session_hash=session)
        assert status == 200, told
        stream, messages = self.answer(f"/gradio_api/queue/data?{urlencode({'session_hash': session})}"), []
        while line := stream.readline():
            if line.startswith(b"data: "):
                messages.append(json.loads(line[6:]))
                if messages[-1]["msg"] in ("process_completed", "close_stream", "unexpected_error"):
                    return messages
        return messages
