"""The table of limits, the two profiles, and what the environment may set."""

import socket

import pytest
from huggingface_hub.utils import build_hf_headers

import explorer
from explorer import app
from explorer.bert import checkpoints
from explorer.bert.hub import EXAMPLE_ID
from explorer.core import limits
from explorer.core.errors import InputError, ModelError
from explorer.core.limits import LIMITS
from explorer.text.limits import check_texts

SETTING = f"{limits.PREFIX}TEXTS"


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setattr(limits, "_public", True)


@pytest.fixture
def read(monkeypatch):
    """Reads the environment with one more setting, as at a start."""
    monkeypatch.setattr(limits, "_public", False)
    for limit in LIMITS.values():
        monkeypatch.setattr(limit, "most", limit.most)  # which is put back in the end

    def read(name, value):
        monkeypatch.setenv(name, value)
        limits.read_environment()

    return read


def test_every_limit_that_can_be_set_has_a_value_in_both_profiles_and_a_whole_sentence_if_any(read):
    for name, limit in LIMITS.items():
        read(limits.PROFILE, "local")
        local = limit.most
        read(limits.PROFILE, "public")
        assert limit.most <= local or local == limits.NONE, name
        read(name, "7")
        assert limit.most == 7
        sentence = limit.tell(8, "the thing")
        assert not sentence or sentence.endswith(".")
        assert "{" not in sentence


def test_strangers_have_a_smaller_share_of_what_they_share(read):
    shares = (limits.VISITOR_UPLOADS_MEGABYTES, limits.VISITOR_MEGABYTES, limits.VISITOR_ROOMS)
    assert [share.most for share in shares] == [1_024, 2_048, 20]
    read(limits.PROFILE, "public")
    assert [share.most for share in shares] == [512, 1_024, 4]
    read(f"{limits.PREFIX}ROOMS", "100")
    assert limits.VISITOR_ROOMS.most == 20


@pytest.mark.parametrize("value", ["-1", "0", "1e3", "many", "1.5", "٣", "9" * 20, "1 000"])
def test_a_limit_that_makes_no_sense_is_told_at_the_start(read, refusal, capsys, value):
    sentence = refusal(InputError, lambda: read(SETTING, value))
    assert SETTING in sentence
    with pytest.raises(SystemExit):
        app.main([])
    assert sentence in capsys.readouterr().err


def test_a_setting_that_there_is_not_and_a_profile_that_there_is_not_are_told(read, monkeypatch, refusal):
    assert "MAX_TEXT." in refusal(InputError, lambda: read(f"{limits.PREFIX}TEXT", "5"))
    monkeypatch.delenv(f"{limits.PREFIX}TEXT")
    assert limits.PROFILE in refusal(InputError, lambda: read(limits.PROFILE, "open"))


def test_a_limit_that_is_set_holds(read, refusal):
    read(SETTING, "2")
    assert check_texts(["a", "b"]) == ["a", "b"]
    assert refusal(InputError, lambda: check_texts(["a"] * 3)) == "You gave 3 texts. Keep 2 or fewer."


def test_a_space_is_public_unless_it_says_otherwise(read):
    assert not limits.is_public()
    read("SPACE_ID", "someone/space")
    assert limits.is_public()
    read(limits.PROFILE, "local")
    assert not limits.is_public()


def test_strangers_cannot_tell_which_folders_there_are(public, monkeypatch, tiny_folder, tmp_path, refusal):
    (tmp_path / "empty").mkdir()
    answers = set()
    for name in (tiny_folder, tmp_path / "empty", tmp_path / "missing", "/etc", "/nowhere", "~", "~root"):
        answers.add(refusal(ModelError, lambda name=name: explorer.load(str(name)), typed=name).replace(str(name)[:80], "X"))
    assert len(answers) == 1
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *args, **named: tmp_path / "none")
    for folder in ("assets", "nothing"):  # relative folders look like ids, and are asked for as ids
        answers.add(refusal(ModelError, lambda folder=folder: checkpoints.find(folder), typed=folder).replace(folder, "X"))
    assert len(answers) == 2


def test_nothing_is_fetched_to_find_out_whether_the_model_of_a_zip_is_here(public, tiny_folder, monkeypatch):
    assert checkpoints.here(checkpoints.BUNDLED) == checkpoints.BUNDLED_FOLDER
    for name in (str(tiny_folder), "assets", EXAMPLE_ID):
        assert checkpoints.here(name) is None
    monkeypatch.setattr(limits, "_public", False)
    assert checkpoints.here(str(tiny_folder)) == tiny_folder.resolve()


def test_the_default_model_may_be_a_folder_for_strangers_too(public, monkeypatch, tiny_folder):
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tiny_folder))
    assert checkpoints.find(str(tiny_folder)).folder == tiny_folder.resolve()


def test_a_password_may_be_asked_for_and_is_shown_in_no_refusal(monkeypatch, capsys):
    for given, expected in (("", None), ("me:secret:er", ("me", "secret:er"))):
        assert app.parse(["--auth", given]).auth == expected
        monkeypatch.setenv("BERT_EXPLORER_AUTH", given)
        assert app.parse([]).auth == expected
    for given in ("me", ":", "me:", ":secret"):
        monkeypatch.setenv("BERT_EXPLORER_AUTH", given)
        with pytest.raises(SystemExit):
            app.parse([])
        assert "secret" not in capsys.readouterr().err.replace("USER:PASSWORD", "")


@pytest.mark.parametrize(("is_public", "told", "sent"), [(True, "", False), (True, "0", True), (False, "", True)])
def test_strangers_do_not_fetch_with_the_operators_token(is_public, told, sent, monkeypatch):
    monkeypatch.setattr(limits, "_public", is_public)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    monkeypatch.setenv(app.TOKEN_WITHHELD, told)
    if not told:
        monkeypatch.delenv(app.TOKEN_WITHHELD)
    app.withhold_token()
    assert ("hf_secret" in str(build_hf_headers())) == sent


@pytest.mark.parametrize("given", ["80000", "0", "abc", "-1", "9" * 30])
def test_what_is_no_port_is_refused_in_a_sentence(given, monkeypatch, capsys):
    for arguments, environment in (([f"--port={given}"], ""), ([], given)):
        monkeypatch.setenv("BERT_EXPLORER_PORT", environment)
        with pytest.raises(SystemExit) as ended:
            app.parse(arguments)
        assert ended.value.code == 2
        assert "--port" in capsys.readouterr().err


def test_a_port_in_use_is_told_in_a_sentence(capsys, monkeypatch):
    monkeypatch.setattr(app.os, "umask", lambda mask: 0)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        app.main(["--port", str(taken.getsockname()[1])])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("The app cannot listen on 127.0.0.1, port ")
    assert "Traceback" not in said
