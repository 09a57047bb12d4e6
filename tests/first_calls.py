"""The first calls to an app that has just started: eight threads call as soon as its port answers."""

import http.client
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

from tests.benchmarks.startup import server
from tests.ports import free_port

THREADS, CALLS = 8, 40
TEXT, BLANK = "The man went home.", "The man went to the [MASK]."
ASKED: tuple[tuple[str, list | None], ...] = (  # endpoints with their arguments; None for a GET
    ("gradio_api/run/head_effects", [BLANK, "store", "", ""]),
    ("gradio_api/run/own_head", [TEXT, "", ""]),  # the bundled model has none; the refusal that says so counts as an answer
    ("gradio_api/run/attribution", [BLANK, "store", "", "gradient_x_input", 5, ""]),
    ("gradio_api/run/inside_layer", [TEXT, "", 1, ""]),
    ("gradio_api/run/routes", [BLANK, "", -1, -1, "", [[1, 2, 3, 0]]]),
    ("gradio_api/run/fill_mask", [BLANK, "", 5, ""]),
    ("gradio_api/run/tokens", [TEXT, "", ""]),
    ("", None),
    ("gradio_api/run/head_metrics", [TEXT, "", ""]),
    ("gradio_api/run/next_sentence", [TEXT, "It was late.", ""]),
    ("gradio_api/run/projection", [[TEXT, "It was late.", "He slept."], "pca", -1, "mean", 2, "", 15, 0.1]),
    ("gradio_api/run/sentence_similarity", [[TEXT, "It was late."], -1, "mean", ""]),
)
UNFORESEEN = "That did not work"


def failures() -> list[str]:
    """Start the app like `python app.py`, make the calls, and return what failed."""
    port = free_port()
    with server(["app.py", "--port", str(port)], env=os.environ | {"HF_HUB_OFFLINE": "1"}) as process:
        _wait_until_it_answers(port)
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda call: _failure(port, *ASKED[call % len(ASKED)]), range(CALLS)))
        assert process.poll() is None
    return [failure for failure in found if failure]


def _wait_until_it_answers(port: int) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        try:
            _request(port, "healthz", None)
            return
        except OSError:
            time.sleep(0.01)
    raise TimeoutError("The app did not answer within three minutes.")


def _failure(port: int, path: str, arguments: list | None) -> str:
    """Why a call failed, "" if it got its result or a sentence that says what to do."""
    try:
        status, body = _request(port, path, arguments)
    except (OSError, http.client.HTTPException) as error:
        return f"/{path}: {error!r}"
    if arguments is None:
        return "" if status == 200 and b"gradio" in body else f"/{path}: status {status}"
    answer = json.loads(body)
    fine = "data" in answer or (answer.get("error") and UNFORESEEN not in answer["error"])
    return "" if fine else f"/{path}: status {status}, {answer}"


def _request(port: int, path: str, arguments: list | None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=180)
    if arguments is None:
        connection.request("GET", f"/{path}")
    else:
        body = json.dumps({"data": arguments})
        connection.request("POST", f"/{path}", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()
