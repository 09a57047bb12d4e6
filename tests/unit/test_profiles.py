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
from explorer.core.limits import LIMITS, TEXTS
from explorer.text.limits import check_texts


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setenv(limits.PROFILE, "public")


def test_the_guide_has_the_table_of_limits(guide):
    assert guide["limits"].count(limits.as_markdown()) == 1


def test_every_limit_that_can_be_set_has_a_value_in_both_profiles_and_a_sentence(monkeypatch):
    for limit in LIMITS.values():
        assert limit is getattr(limits, limit.name.upper())
        monkeypatch.setenv(limits.PROFILE, "local")
        local = limit.most
        monkeypatch.setenv(limits.PROFILE, "public")
        assert limit.most <= local or local == limits.NONE, limit.name
        monkeypatch.setenv(limit.setting, "7")
        assert limit.most == 7
        sentence = limit.tell(8, "the thing")
        assert sentence.endswith(".")
        assert "{" not in sentence


@pytest.mark.parametrize("value", ["-1", "0", "1e3", "many", "1.5", "٣", "9" * 20, "1 000"])
def test_a_limit_that_makes_no_sense_is_told_at_the_start(monkeypatch, refusal, capsys, value):
    monkeypatch.setenv(TEXTS.setting, value)
    sentence = refusal(InputError, limits.check_environment)
    assert TEXTS.setting in sentence
    with pytest.raises(SystemExit):
        app.main([])
    assert sentence in capsys.readouterr().err


def test_a_setting_that_there_is_not_and_a_profile_that_there_is_not_are_told(monkeypatch, refusal):
    limits.check_environment()
    monkeypatch.setenv(limits.PREFIX + "TEXT", "5")
    assert "MAX_TEXT;" in refusal(InputError, limits.check_environment)
    monkeypatch.delenv(limits.PREFIX + "TEXT")
    monkeypatch.setenv(limits.PROFILE, "open")
    assert limits.PROFILE in refusal(InputError, limits.check_environment)


def test_a_limit_that_is_set_holds_at_once(monkeypatch, refusal):
    monkeypatch.setenv(TEXTS.setting, "2")
    assert check_texts(["a", "b"]) == ["a", "b"]
    assert refusal(InputError, lambda: check_texts(["a"] * 3)) == "There are 3 texts; keep 2 of them or fewer."


def test_a_space_is_public_unless_it_says_otherwise(monkeypatch):
    assert not limits.is_public()
    monkeypatch.setenv("SPACE_ID", "someone/space")
    assert limits.is_public()
    monkeypatch.setenv(limits.PROFILE, "local")
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
    monkeypatch.setenv(limits.PROFILE, "local")
    assert checkpoints.here(str(tiny_folder)) == tiny_folder.resolve()


@pytest.mark.parametrize(("given", "expected"), [("", None), ("me:secret:er", ("me", "secret:er"))])
def test_a_password_may_be_asked_for(monkeypatch, given, expected):
    assert app.parse(["--auth", given]).auth == expected
    monkeypatch.setenv("BERT_EXPLORER_AUTH", given)
    assert app.parse([]).auth == expected


@pytest.mark.parametrize(("profile", "told", "sent"), [("public", "", False), ("public", "0", True), ("local", "", True)])
def test_strangers_do_not_fetch_with_the_operators_token(profile, told, sent, monkeypatch):
    monkeypatch.setenv(limits.PROFILE, profile)
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
    monkeypatch.setattr(app, "launch", lambda *_: pytest.fail("the page was built for a port that is in use"))
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        app.main(["--port", str(taken.getsockname()[1])])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("The app cannot listen on 127.0.0.1, port ")
    assert "Traceback" not in said


@pytest.mark.parametrize("given", ["me", ":", "me:", ":secret"])
def test_a_password_without_a_name_is_refused_without_being_shown(given, monkeypatch, capsys):
    monkeypatch.setenv("BERT_EXPLORER_AUTH", given)
    with pytest.raises(SystemExit):
        app.parse([])
    assert "secret" not in capsys.readouterr().err.replace("USER:PASSWORD", "")
