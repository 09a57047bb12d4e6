"""An assistant looks inside BERT: the flag, what it needs, and the tools over the protocol itself."""

import importlib.util
import json
import re
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest

from explorer import app
from explorer.core.errors import InputError
from explorer.endpoints import ENDPOINTS
from explorer.server import assistants
from tests.asking import ask
from tests.fuzz.promises import check_sentence
from tests.ports import free_port
from tests.waiting import waited

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("arguments", "setting", "found"), [(["--mcp"], "", True), ([], "1", True), ([], "0", False), ([], "", False)]
)
def test_the_flag_or_the_environment_asks_for_it(monkeypatch, arguments, setting, found):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setenv("BERT_EXPLORER_MCP", setting)
    assert app.parse(arguments).mcp is found


def test_what_is_missing_is_a_sentence(monkeypatch, refusal):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert assistants.MCP in refusal(InputError, lambda: assistants.prepare(with_password=False))
    assert not app.parse([]).mcp, "who does not ask for it does without"


def test_it_cannot_be_had_with_a_password(monkeypatch, capsys):
    monkeypatch.setenv("BERT_EXPLORER_AUTH", "teacher:secret")
    with pytest.raises(SystemExit):
        app.parse(["--mcp"])
    assert "Assistants cannot log in: leave out --mcp or --auth" in capsys.readouterr().err


def test_one_version_is_named():
    assert re.search(rf"^{re.escape(assistants.MCP)} ", (ROOT / "requirements-mcp.txt").read_text(), re.MULTILINE)


def test_nobody_is_offered_tools_who_did_not_ask(served):
    assert ask(served, "GET", "/gradio_api/mcp/")[0] in (404, 405)


@pytest.fixture(scope="module")
def talk():
    """Asks the app what an assistant would: `talk(lambda session: session.list_tools())`."""
    pytest.importorskip("mcp", reason="needs mcp (pip install -r requirements-mcp.txt)")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    port = free_port()
    assistants.prepare(with_password=False)
    blocks = app.launch("127.0.0.1", port, mcp=True)
    app.warm()

    async def session(ask):
        async with (
            streamable_http_client(f"http://127.0.0.1:{port}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as one,
        ):
            await one.initialize()
            return await ask(one)

    yield lambda ask: waited(session(ask))
    blocks.close()


def test_every_endpoint_is_a_tool_that_says_what_it_takes(talk):
    tools = {tool.name: tool for tool in talk(lambda session: session.list_tools()).tools}
    assert set(tools) == {endpoint.__name__ for endpoint in ENDPOINTS}
    assert all(tool.description for tool in tools.values())
    assert tools["view"].inputSchema["required"] == ["name", "text_a"]
    assert tools["view"].inputSchema["properties"]["settings"]["type"] == "object"


def test_an_assistant_gets_the_models_own_numbers(talk, bundled):
    text = "The cat sat on the mat."
    asked = {"name": "attention/head", "text_a": text, "settings": {"layer": 3, "head": 7}}
    answer = talk(lambda session: session.call_tool("view", asked))
    assert not answer.isError
    view = literal_eval(answer.content[0].text)
    rows = view["tables"]["heatmap"]["rows"]
    weights = bundled.trace(text).attention(2)[6]
    np.testing.assert_allclose([row[-1] for row in rows], weights.ravel(), atol=1e-6)  # numbers of another process
    assert view["finding"].startswith("Layer 3, head 7 attends to")


@pytest.mark.parametrize("arguments", [{"name": "x" * 10_000, "text_a": "a"}, {"name": "attention/head", "text_a": ""}])
def test_an_assistant_reads_a_sentence_when_it_is_wrong(talk, arguments):
    answer = talk(lambda session: session.call_tool("view", arguments))
    assert answer.isError
    (said,) = answer.content
    check_sentence(said.text)


def test_the_configuration_in_the_guide_is_one(guide):
    (block,) = re.findall(r"<!-- example mcp -->\n```json\n(.*?)```", guide["api"], flags=re.DOTALL)
    (server,) = json.loads(block)["mcpServers"].values()
    assert server["url"] == "http://127.0.0.1:7860/gradio_api/mcp/"
