"""What a link's page is sent before its scripts ask for anything: texts, tokens, and the view if it is there in a moment."""

import contextlib
import json
import shutil
import threading
import urllib.request
from urllib.parse import urlencode

import pytest

from explorer.bert import checkpoints, cold
from explorer.bert.explorer import load
from explorer.page import arriving
from explorer.server.bounds import Rates

TEXTS = [
    ("Cats drink [MASK].", ""),
    ("The keys  to the old CABINET [MASK]\nare lost.", "Où est-il? 日本 ☃ [SEP] skyscrapers"),
    ("walking " * 600, "Short."),
]


def place(served, **link):
    html = urllib.request.urlopen(f"{served}/?{urlencode(link)}").read().decode()
    sent = html.partition('id="bx-place">')[2].partition("</script>")[0]
    return json.loads(sent), sent


@pytest.mark.parametrize("texts", TEXTS, ids=["a blank", "a pair", "too long"])
def test_the_tokenizer_alone_reads_as_the_model_does(bundled, monkeypatch, texts):
    monkeypatch.setattr(cold, "list_loaded", list)
    assert cold.encoding_of(checkpoints.BUNDLED, *texts) == bundled.encode(*texts)


def test_what_cannot_be_read_has_no_tokens_and_nothing_is_downloaded(monkeypatch, tmp_path):
    monkeypatch.setattr(cold, "list_loaded", list)
    assert cold.encoding_of("someone/model-of-the-hub", "Cats.", "") is None
    assert cold.encoding_of(checkpoints.BUNDLED, " ", "") is None
    assert cold.encoding_of(checkpoints.BUNDLED, "\ud800", "") is None
    assert cold.encoding_of(checkpoints.BUNDLED, "x" * 20_001, "") is None
    folder = tmp_path / "model"
    shutil.copytree(checkpoints.BUNDLED_FOLDER, folder, ignore=shutil.ignore_patterns("*.safetensors", "recipe"))
    assert cold.encoding_of(str(folder), "Cats.", "").tokens == ("[CLS]", "cats", ".", "[SEP]")
    (folder / "tokenizer.json").write_text("{}")
    cold._open.cache_clear()
    assert cold.encoding_of(str(folder), "Cats.", "") is None


def test_a_link_is_sent_with_its_texts_tokens_and_view(bundled, served, serving):
    link = {"tab": "attention", "view": "one-head", "a": "Dogs chase </script><script>alert(1)</script> cats.", "b": "They do."}
    found, sent = place(served, **link)
    assert "<" not in sent, "what is typed is no markup"
    assert found["elements"]["text-a"] == {"value": link["a"]}
    assert found["elements"]["examples"] == {"value": None}
    assert (found["tab"], found["view"]) == ("attention", "One head")
    strip = next(one["id"] for one in serving.whole_config["components"] if one["props"].get("elem_id") == "strip")
    assert found["props"][str(strip)]["value"]["tokens"] == list(bundled.encode(link["a"], link["b"]).tokens)
    asked = urllib.request.Request(f"{served}/?{urlencode(link)}", headers={"Accept": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        assert answer.headers["Content-Type"] == "application/json"
        alone = json.loads(answer.read())
    assert alone.items() >= {name: found[name] for name in ("elements", "tab", "view")}.items(), "its view comes if it is there"


@pytest.mark.parametrize("tab", ["overview", "attention"])
def test_the_view_is_what_the_page_is_sent_later(bundled, page, tab):
    blocks, shell = page
    load()  # others may have taken its place in memory
    link = {"tab": tab, "a": "Cats drink milk."}
    found = arriving.view_of(shell, blocks, link)
    assert found["is_view"]
    assert ("layout" in found) == (tab == "attention"), "every page has the first tab"
    sent = {one["props"].get("elem_id") for one in found.get("components", ())}
    assert ("attention-heads-grid" in sent) == (tab == "attention")
    json.dumps(found, default=str, allow_nan=False)


def test_a_model_that_is_not_loaded_is_not_loaded_for_it(page, monkeypatch):
    blocks, shell = page
    monkeypatch.setattr(arriving, "list_loaded", list)
    assert arriving.view_of(shell, blocks, {"tab": "attention"}) == {}
    monkeypatch.setattr(arriving, "encoding_of", lambda *texts: None)
    found = arriving.frame_of(shell, {"model": "someone/model", "a": "Cats.", "tab": "fill-mask", "view": "lens"})
    assert (found["tab"], found["view"], found["elements"]["text-a"]["value"]) == ("fill-mask", "Lens", "Cats.")
    assert len(found["props"]) == 1, "the model's name"


def test_a_slow_view_does_not_hold_the_page_back_nor_anyone_else(served, serving, monkeypatch):
    free, begun = threading.Event(), threading.Event()

    def slow(link):
        begun.set()
        free.wait(60)
        return {"is_view": True}

    monkeypatch.setattr(serving, "view_of", slow)
    with contextlib.ExitStack() as stack:
        stack.callback(free.set)
        found, _ = place(served, a="Cats wait.")
        assert begun.is_set()
        assert "is_view" not in found
        assert found["elements"]["text-a"] == {"value": "Cats wait."}
        assert urllib.request.urlopen(f"{served}/?a=Cats+wait+too.").status == 200


def test_a_view_that_fails_is_left_to_the_page(served, serving, monkeypatch):
    def fail(link):
        raise ValueError("broken")

    monkeypatch.setattr(serving, "view_of", fail)
    found, _ = place(served, a="Cats fail.")
    assert "is_view" not in found
    assert found["elements"]["text-a"] == {"value": "Cats fail."}


def test_an_address_has_as_many_as_it_may_cause_work(served, monkeypatch):
    monkeypatch.setattr(Rates, "may_work", lambda self, address: False)
    assert place(served, a="Cats again.")[0] == {}


def test_a_number_that_json_does_not_have_is_null(served, serving, monkeypatch):
    monkeypatch.setattr(serving, "view_of", lambda link: {"is_view": True, "props": {"2": {"value": [float("nan"), 1.5]}}})
    found, _ = place(served, a="Cats count.")
    assert found["is_view"]
    assert found["props"]["2"] == {"value": [None, 1.5]}
    assert found["elements"]["text-a"] == {"value": "Cats count."}
