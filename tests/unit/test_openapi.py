"""The description for programs says what is there, and nothing else."""

import json
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from explorer.endpoints import ENDPOINTS
from explorer.export import links, ways
from explorer.tabs import VIEWS
from tests.unit.test_taking import fetched


def fetch(url, data=None):
    body = None if data is None else json.dumps(data).encode()
    with urlopen(Request(url, body, {"Content-Type": "application/json"}), timeout=120) as answer:
        return answer.read()


@pytest.fixture(scope="module")
def described(served):
    return json.loads(fetch(f"{served}/bx/openapi.json"))


def test_everything_that_can_be_asked_is_described(described):
    assert described["openapi"].startswith("3.")
    paths = {f"/gradio_api/run/{endpoint.__name__}" for endpoint in ENDPOINTS} | {f"/bx/take/view.{way.key}" for way in ways.WAYS}
    assert set(described["paths"]) == paths
    told = [about for found in described["paths"].values() for about in found.values()]
    assert len({about["operationId"] for about in told}) == len(told)
    assert all(about["summary"] for about in told)


def test_an_endpoint_can_be_called_as_it_is_described(described, served):
    told = described["paths"]["/gradio_api/run/view"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    arguments = told["properties"]["data"]["prefixItems"]
    assert [one["title"] for one in arguments] == ["name", "text_a", "text_b", "settings", "model"]
    assert arguments[0]["enum"] == list(VIEWS)
    data = [one.get("default", {"name": "tokens/pieces"}.get(one["title"], "A cat sat.")) for one in arguments]
    (answer,) = json.loads(fetch(f"{served}/gradio_api/run/view", {"data": data}))["data"]
    assert answer["tables"]["cards"]["rows"][1][1] == "a"


def test_a_file_takes_the_parameters_that_are_described(described, served):
    told = {one["name"] for one in described["paths"]["/bx/take/view.csv"]["get"]["parameters"]}
    assert told == (set(links.PARAMETERS) - {"set.NAME"}) | {"settings", "part"}
    given = {"v": "1", "tab": "attention", "a": "A cat sat.", "layer": "2", "head": "3", "part": "heatmap", "set.top_p": "50"}
    assert b"query_position" in fetch(f"{served}/bx/take/view.csv?{urlencode(given)}")


def test_the_page_shows_the_same_to_people(described, served):
    status, headers, body = fetched(served, "/bx/api")
    page = body.decode()
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    for path in described["paths"]:
        assert f"{path}</code>" in page
    for name in VIEWS:
        assert f"<code>{name}</code>" in page
    assert "<script" not in page
    assert "://" not in page, "nothing comes from elsewhere"
    with urlopen(f"{served}/bx/openapi.json", timeout=60) as answer:
        assert answer.headers["content-type"] == "application/json"


def test_who_has_not_logged_in_learns_nothing(locked):
    for path in ("bx/api", "bx/openapi.json"):
        with pytest.raises(HTTPError) as caught:
            urlopen(f"{locked}{path}", timeout=60)
        assert caught.value.code == 401
        caught.value.close()
