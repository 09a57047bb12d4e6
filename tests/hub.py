"""A Hugging Face Hub played on this machine, used through the real client."""

import hashlib
import importlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import HTTPError
from huggingface_hub.utils._http import default_client_factory

http = importlib.import_module(HTTPError.__module__.split(".")[0])  # the HTTP library of this version of the Hub's client
REPO = "someone/tiny-bert"
SHA = "0123456789abcdef0123456789abcdef01234567"
CHUNK = 2_000  # bytes sent at once


class Hub:
    """A played Hub: its repositories, the requests it got, and how it fails."""

    def __init__(self):
        self.repos = {}  # {id, or datasets/id: {path: bytes}}
        self.asked = []
        self.gated = self.down = False
        self.pause = 0.0  # seconds between two chunks of a file
        self.broken_files = set()
        self.revisions = {"main", SHA}

    def put(self, name, folder, **extra):
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.repos[name] = files | {path.replace("__", "."): content for path, content in extra.items()}

    def answer(self, request):
        path = request.url.path
        self.asked.append((request.method, path))
        if self.down:
            raise http.ConnectError("[Errno -2] Name or service not known", request=request)
        if found := re.fullmatch(r"/api/(?:models/|(datasets/))([^/]+/[^/]+)/?(.*)", path):
            return self.describe(f"{found[1] or ''}{found[2]}", found[3], request)
        name, _, rest = path.removeprefix("/").partition("/resolve/")
        return self.send(name, rest.partition("/")[2], request)

    def describe(self, name, rest, request):
        if name not in self.repos:
            return http.Response(401, headers={"X-Error-Code": "RepoNotFound"}, json={"error": "Repository not found"})
        if rest.startswith("revision/") and rest.removeprefix("revision/") not in self.revisions:
            return http.Response(404, headers={"X-Error-Code": "RevisionNotFound"}, json={"error": "Invalid rev id"})
        files = self.repos[name].items()
        entries = [{"type": "file", "path": path, "size": len(content), "oid": sha(content)} for path, content in files]
        if rest.startswith("tree/"):
            below = rest.split("/", 2)[2:] or [""]
            return http.Response(200, json=[entry for entry in entries if entry["path"].startswith(below[0])])
        if rest.startswith("paths-info/"):
            asked = parse_qs(request.read().decode())["paths"]
            return http.Response(200, json=[entry for entry in entries if entry["path"] in asked])
        siblings = [{"rfilename": path, "size": len(content), "blobId": sha(content)} for path, content in files]
        own = name.removeprefix("datasets/")
        return http.Response(200, json={"id": own, "modelId": own, "sha": SHA, "siblings": siblings, "tags": [], "downloads": 0})

    def send(self, name, path, request):
        if self.gated:
            return http.Response(403, headers={"X-Error-Code": "GatedRepo"}, json={"error": "Access is restricted"})
        if path in self.broken_files:
            return http.Response(500, json={"error": "internal"})
        if path not in self.repos.get(name, {}):
            return http.Response(404, headers={"X-Error-Code": "EntryNotFound"})
        content = self.repos[name][path]
        if asked := re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", "")):
            content = content[int(asked[1]) : int(asked[2]) + 1 if asked[2] else None]
        headers = {"ETag": f'"{sha(content)}"', "X-Repo-Commit": SHA, "Content-Length": str(len(content))}
        return http.Response(200, headers=headers, content=b"" if request.method == "HEAD" else self.slowly(content))

    def slowly(self, content):
        for start in range(0, len(content), CHUNK):
            yield content[start : start + CHUNK]
            time.sleep(self.pause)

    def fetched(self):
        return {path.rpartition("/")[2] for method, path in self.asked if method == "GET" and "/resolve/" in path}


def sha(content):
    return hashlib.sha1(content).hexdigest()


@contextmanager
def played(monkeypatch, cache) -> Iterator[Hub]:
    """An empty Hub and an empty local cache.

    It stays until the next one is played, and starts before any request: a delayed retry may come after its test has ended.
    """
    hub = Hub()

    def client():
        made = default_client_factory()
        made._transport, made._mounts = http.MockTransport(hub.answer), {}
        return made

    huggingface_hub.set_client_factory(client)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield hub
    hub.down = True
