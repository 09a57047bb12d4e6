"""Uploads: what breaks off or fails leaves nothing behind, and there is only so much room for all."""

import errno
import http.client
import json
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gradio.route_utils import GradioUploadFile

from explorer.core.limits import MEGABYTE, UPLOAD_MEGABYTES, UPLOADS_MEGABYTES, VISITOR_UPLOADS_MEGABYTES, Limit
from explorer.server import uploads

HEAD = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
END = b"\r\n--b--\r\n"
KIND = {"Content-Type": "multipart/form-data; boundary=b"}


@pytest.fixture
def folder(serving):
    return Path(serving.app.uploaded_file_dir)


@pytest.fixture
def left(folder):
    """What is in the folder of uploads that was not there before."""
    there = set(folder.rglob("*")) if folder.exists() else set()

    def left():
        return [path for path in folder.rglob("*") if path not in there and path.is_file()]

    return left


@pytest.fixture
def upload(served):
    """Uploads a file, from an address that a proxy on this machine tells; gives the status and the answer."""

    def upload(content, address="203.0.113.1", before=HEAD):
        line = http.client.HTTPConnection(urlsplit(served).netloc, timeout=60)
        try:
            line.request("POST", "/gradio_api/upload", before + content + END, {**KIND, "X-Forwarded-For": address})
            answer = line.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            line.close()

    return upload


def test_an_upload_that_breaks_off_leaves_nothing(served, left, upload):
    address = urlsplit(served)
    with socket.create_connection((address.hostname, address.port)) as line:
        kind = "\r\n".join(f"{name}: {value}" for name, value in KIND.items())
        line.sendall(f"POST /gradio_api/upload HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: 9000000\r\n\r\n".encode())
        line.sendall(HEAD + b"a,b\n" * 100_000)
        end = time.monotonic() + 60
        while not left():  # until it is being written
            assert time.monotonic() < end
            time.sleep(0.05)
    while left():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("fails", ["write", "seek"])
def test_a_full_disk_is_told_and_the_next_upload_arrives(left, upload, monkeypatch, fails):
    async def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(GradioUploadFile, fails, full)
        assert upload(b"a,b\n" * 1_000) == (507, {"error": uploads.NO_ROOM})
        assert left() == []
    status, (path,) = upload(f"c,{fails}\n".encode() * 1_000)
    assert status == 200
    assert left() == [Path(path)]


def test_a_part_that_is_no_file_is_not_collected_without_end(left, upload):
    status, told = upload(b"a" * 1_000_000, before=b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n')
    assert (status, list(told)) == (400, ["error"])
    assert left() == []


def test_one_request_brings_no_more_than_one_file_may_have(left, upload, monkeypatch):
    monkeypatch.setenv(UPLOAD_MEGABYTES.setting, "1")
    half = b"a" * (MEGABYTE * 2 // 3)
    two = half + b"\r\n" + HEAD + half
    assert upload(two) == (413, {"error": UPLOAD_MEGABYTES.tell()})
    assert left() == []
    assert upload(half)[0] == 200


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A shelf with room for three files of a megabyte, two from one address; `add(name, address)` puts one on it."""
    monkeypatch.setenv(UPLOADS_MEGABYTES.setting, "3")
    monkeypatch.setattr(uploads, "VISITOR_UPLOADS_MEGABYTES", Limit(2, VISITOR_UPLOADS_MEGABYTES.sentence))
    made = uploads.Shelf()

    def add(name, address, content=b"a" * MEGABYTE):
        path = tmp_path / name
        path.write_bytes(content)
        made.add([path], address)
        return path

    made.put = add
    return made


def test_one_address_has_a_share_of_the_room(shelf):
    for name in "ab":
        assert shelf.flaw("one", MEGABYTE) is None
        shelf.put(name, "one")
    assert shelf.flaw("one", MEGABYTE) == (429, uploads.VISITOR_UPLOADS_MEGABYTES.tell())
    assert shelf.flaw("other", MEGABYTE) is None
    shelf.arriving["third"] += MEGABYTE
    assert shelf.flaw("other", MEGABYTE) == (503, UPLOADS_MEGABYTES.tell())


def test_old_files_make_room_and_new_ones_stay(shelf, monkeypatch):
    old = [shelf.put("a", "one"), shelf.put("b", "one")]
    now = time.monotonic()
    monkeypatch.setattr(uploads, "monotonic", lambda: now + uploads.HOUR + 1)
    new = shelf.put("c", "other")
    assert shelf.flaw("other", MEGABYTE) is None
    assert [path.exists() for path in (*old, new)] == [False, True, True]
    newer = shelf.put("d", "other")
    assert shelf.flaw("third", MEGABYTE) is None
    assert shelf.flaw("third", 2 * MEGABYTE) == (503, UPLOADS_MEGABYTES.tell())
    assert [path.exists() for path in (*old, new, newer)] == [False, False, True, True]


def test_a_thousand_empty_files_take_room_too(shelf):
    for number in range(3 * MEGABYTE // uploads.LEAST):
        shelf.put(str(number), f"address {number}", b"")
    assert shelf.flaw("other", 1)[0] == 503


def test_the_share_of_an_address_holds_over_http(upload, left, monkeypatch):
    monkeypatch.setenv(UPLOADS_MEGABYTES.setting, "2")
    part = b"a" * (MEGABYTE // 2)
    assert [upload(part + bytes([65 + number]), "203.0.113.77")[0] for number in range(3)] == [200, 429, 429]
    assert upload(part + b"z", "203.0.113.78")[0] == 200
    assert len(left()) == 2
