"""The app behind nginx as the guide sets it up: TLS, streams, uploads, who is who, two front ends with one folder of runs."""

import json
import re
import subprocess
import urllib.error
import urllib.request

import pytest

from tests.browser.conftest import FLAGS, browser_path
from tests.browser.steps import chips, type_into
from tests.outside import nginx
from tests.outside.nginx import NAME, Proxied, Visitor, proxied

FORGED = "203.0.113.9"
EXAMPLES = [["a happy dog", "happy"], ["a sad cat", "sad"], ["so happy", "happy"], ["so sad", "sad"]] * 3


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with proxied(tmp_path_factory.mktemp("nginx"), BERT_EXPLORER_MAX_ROOMS="5") as ready:
        yield ready


def direct(app: Proxied, front: int, path: str, body: dict | None = None, **headers: str) -> tuple[int, bytes]:
    """Asks a front end itself, as its proxy does."""
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Host": NAME, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"http://127.0.0.1:{app.fronts[front]}{path}", sent, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def leads_to(app: Proxied, cookie: str) -> int:
    """The front end to which a cookie leads, which counts its calls."""

    def calls(front: int) -> float:
        told = direct(app, front, "/metrics")[1].decode()
        return sum(float(line.split()[-1]) for line in told.splitlines() if line.startswith("bert_explorer_call_seconds_count"))

    before = [calls(front) for front in (0, 1)]
    assert Visitor(app, cookie=cookie).ask("tokens", "Which one?", "", "")[0] == 200
    grown = [calls(front) > earlier for front, earlier in enumerate(before)]
    assert sum(grown) == 1
    return grown.index(True)


@pytest.fixture(scope="module")
def cookies(app):
    """A cookie for each front end, as visitors are given them."""
    found = {}
    for _ in range(40):
        visitor = Visitor(app)
        visitor.get("/healthz")
        found.setdefault(leads_to(app, visitor.cookie), visitor.cookie)
        if len(found) == 2:
            return found
    raise AssertionError("one front end is given no visitors")


def test_the_page_and_what_it_leads_to_are_addressed_as_the_visitor_knows_them(app):
    status, page = Visitor(app).get("/")
    assert status == 200
    assert b"gradio_config" in page
    assert b"http://" + NAME.encode() not in page
    for front in app.fronts:
        assert str(front).encode() not in page
    assert Visitor(app).get("/join")[0] == 200
    assert Visitor(app).get(f"/?v=1&tab=tokens&a={'x' * 15_000}")[0] == 200, "a link as long as the app makes them"
    status, opened = Visitor(app, "127.0.0.10").post("/bx/rooms")
    assert (status, opened["address"]) == (200, f"{app.address}/join")


def test_a_visitor_stays_with_a_front_end_which_has_what_a_call_was_begun_with(app, cookies):
    for number in range(20):
        visitor = Visitor(app)
        visitor.get("/healthz")
        told = visitor.queued("tokens", f"session{number}", "The man went home.", "", "")
        assert told[-1]["msg"] == "process_completed"
        assert told[-1]["success"]
    for front, cookie in cookies.items():
        assert [leads_to(app, cookie) for _ in range(3)] == [front] * 3


def test_a_file_beyond_what_nginx_takes_by_itself_arrives(app):
    content = b"text,label\n" + b"a happy dog,happy\n" * 200_000
    status, told = Visitor(app).upload(content)
    assert status == 200
    assert json.loads(told)[0].endswith("texts.csv")
    status, told = Visitor(app).upload(b"x" * (256 * 2**20 + 100_000))
    assert (status, json.loads(told)["error"]) == (413, "The file has more than 256 MB; send a smaller one.")


@pytest.mark.parametrize("half", [b"GET /healthz HTTP/1.1\r\nHost: ", b""])
def test_half_a_request_holds_no_connection(app, half):
    line = Visitor(app).line().sock
    line.sendall(half)
    line.settimeout(60)  # nginx waits for 10 s
    assert line.recv(1_000) == b""


def test_the_app_tells_visitors_apart_by_their_own_address(app, cookies):
    def opens(source: str, **headers: str) -> int:
        return Visitor(app, source, cookies[0], **headers).post("/bx/rooms")[0]

    assert opens("127.0.0.20") == 200
    assert opens("127.0.0.20") == 503, "one room an address"
    assert opens("127.0.0.21") == 200, "the address is the visitor's and not nginx's"
    assert opens("127.0.0.20", **{"X-Forwarded-For": FORGED}) == 503
    assert opens("127.0.0.20", **{"X-Forwarded-For": f"{FORGED}, 127.0.0.1"}) == 503
    assert Visitor(app, cookie=cookies[0]).get("/metrics", **{"X-Forwarded-For": "127.0.0.1"})[0] == 403, "of this machine only"


def test_a_run_of_one_front_end_is_a_run_of_the_other(app, cookies):
    trained = [EXAMPLES, -1, "mean", 2, 0.01, 8, 0, "", 0]
    status, told = Visitor(app, cookie=cookies[0]).ask("train_head", *trained)
    assert status == 200, told
    head = told["data"][0]["head"]
    status, told = Visitor(app, cookie=cookies[1]).ask("classify", ["so happy"], head)
    assert status == 200, told
    assert told["data"][0]["labels"][0] in ("happy", "sad")


def test_what_happens_in_a_room_is_told_as_it_happens_and_from_either_front_end(app, cookies):
    teacher = Visitor(app, "127.0.0.30", cookies[0])
    room = teacher.post("/bx/rooms")[1]
    word = room["word"]
    stream = teacher.answer(f"/bx/rooms/{word}/news", Authorization=f"Bearer {room['key']}")
    assert b'"people": []' in stream.readline(), "told while the line stays open"
    pupils = [Visitor(app, "127.0.0.31", cookies[front]) for front in (0, 1)]
    seats = [pupil.post(f"/bx/rooms/{word}/join", name=name) for pupil, name in zip(pupils, ("Ann", "Ben"), strict=True)]
    assert [status for status, _ in seats] == [200, 200]
    told = b""
    while b"Ben" not in told:
        told = stream.readline()
        assert told, "the stream ended"
    own = pupils[1].answer(f"/bx/rooms/{word}/news", Authorization=f"Bearer {seats[1][1]['token']}")
    assert own.readline().startswith(b"data: ")
    assert pupils[1].post(f"/bx/rooms/{word}/end", seats[1][1]["token"])[0] == 403, "a pupil there too"
    assert pupils[1].post("/bx/rooms/no-such/join", name="Ann")[0] == 400, "what no front end has"
    assert Visitor(app, cookie=cookies[1]).post(f"/bx/rooms/{word}/end", room["key"])[0] == 200


def test_a_browser_draws_the_page_over_tls(app):
    sync_api = pytest.importorskip("playwright.sync_api")
    if (path := browser_path()) is None:
        pytest.skip("no Chromium on this machine; set BROWSER to its path")
    with sync_api.sync_playwright() as playwright:
        flags = [*FLAGS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
        page = playwright.chromium.launch(executable_path=path, args=flags).new_page(ignore_https_errors=True)
        asked, problems = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(f"{app.address}/?v=1&tab=tokens&a=Snow+is+white.")
        chips(page).filter(has_text="white").first.wait_for(timeout=60_000)
        type_into(page, "text-a", "Coal is black.")
        chips(page).filter(has_text="coal").first.wait_for(timeout=60_000)
        assert not problems
        assert all(url.startswith((app.address, "data:", "blob:")) for url in asked), asked


def test_the_guides_nginx_for_one_server_is_read_by_nginx(tmp_path):
    guide = (nginx.ROOT / "assets" / "guide" / "operating.md").read_text("utf-8")
    [printed] = re.findall(r"^```nginx\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    certificate = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={nginx.NAME}"]
    certificate += ["-keyout", str(tmp_path / "bert.key"), "-out", str(tmp_path / "bert.crt")]
    program = nginx.program()
    subprocess.run(certificate, check=True, capture_output=True)
    made = nginx.AROUND.format(user="", folder=tmp_path, printed=printed.replace("/etc/ssl/", f"{tmp_path}/"))
    (tmp_path / "nginx.conf").write_text(made)
    subprocess.run([program, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")], check=True)
