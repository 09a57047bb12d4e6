"""A packed app starts where there is no network, pip or place to write; elsewhere it says what is missing."""

import os
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from explorer import stick
from explorer.core.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "{}.{}".format(*sys.version_info[:2])
WAITING = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("the app was told to end"))
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A stick with a small app, unpacked, and its name."""
    folder = tmp_path_factory.mktemp("stick")
    source, wheels = folder / "source", folder / "wheels"
    for one in ("explorer/__pycache__", "assets/stick", "assets/screenshots"):
        (source / one).mkdir(parents=True)
    wheels.mkdir()
    (source / "app.py").write_text(
        "import os, sys\nimport small\nprint(small.__file__, os.environ['HF_HUB_OFFLINE'], sys.argv[1:])\n"
    )
    (source / "requirements.txt").write_text("small==1.0\n")
    (source / "assets/stick/start.py").write_text((ROOT / "assets/stick/start.py").read_text("utf-8"))
    for one in ("README.md", "LICENSE", "explorer/kept.py", "explorer/__pycache__/left.pyc", "assets/screenshots/left.png"):
        (source / one).write_text("")
    with zipfile.ZipFile(wheels / "small-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("small.py", "")
        wheel.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        wheel.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("small-1.0.dist-info/RECORD", "")
    path = stick.pack(folder / "out", ["--no-index", "--find-links", str(wheels)], source)
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(path), str(folder)], check=True)
    return path, folder / path.stem


def run(folder, *arguments):
    """What it prints where there is nothing but a shell and Python."""
    place = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(["sh", folder / "start.sh", *arguments], env=place, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def test_it_starts_with_its_own_libraries_and_hands_on_what_it_is_given(packed):
    path, folder = packed
    assert path.name == f"bert-explorer-{sysconfig.get_platform()}-python{PYTHON}.zip"
    for one in folder.rglob("*"):
        one.chmod(0o555)
    assert run(folder, "--port", "1") == (0, f"{folder / 'libraries' / 'small.py'} 1 ['--port', '1']")


def test_what_is_not_needed_is_left_out_and_its_script_can_be_started(packed):
    path, _ = packed
    with zipfile.ZipFile(path) as read:
        names = [one.filename.partition("/")[2] for one in read.infolist()]
        mode = next(one.external_attr >> 16 for one in read.infolist() if one.filename.endswith("/start.sh"))
    assert {"app/app.py", "app/explorer/kept.py", "libraries/small.py", "start.py", "start.sh"} <= set(names)
    assert not [name for name in names if "left" in name]
    assert mode & 0o111 == 0o111


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (
            '(2, 7), "{kind}"',
            f"This folder was packed for Python 2.7, and this is {PYTHON}; install Python 2.7, or pack it here.",
        ),
        ('({python}), "abacus"', "This folder was packed for abacus, and this machine is {kind}; pack it here."),
    ],
)
def test_another_machine_is_told_in_a_sentence(packed, tmp_path, told, sentence):
    _, folder = packed
    kind = sysconfig.get_platform()
    python = PYTHON.replace(".", ", ")
    text = (folder / "start.py").read_text("utf-8")
    own = f'({python}), "{kind}"'
    assert own in text, "where it was packed"
    (tmp_path / "start.py").write_text(text.replace(own, told.format(kind=kind, python=python)), "utf-8")
    done = subprocess.run([sys.executable, tmp_path / "start.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, sentence.format(kind=kind))


def test_a_machine_without_that_python_is_told_where_it_is(packed):
    _, folder = packed
    done = subprocess.run(["/bin/sh", folder / "start.sh"], env={"PATH": os.devnull}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"Install Python {PYTHON} first" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="there a program is ended without being told")
def test_the_app_ends_with_the_program_that_started_it(packed, tmp_path):
    _, folder = packed
    (tmp_path / "start.py").write_text((folder / "start.py").read_text("utf-8"), "utf-8")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/app.py").write_text(WAITING, "utf-8")
    command = [sys.executable, tmp_path / "start.py", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGTERM)
        _, told = started.communicate(timeout=60)  # not before both have ended
    assert (started.returncode, told) == (1, "the app was told to end\n")


def test_what_pip_cannot_fetch_is_told_in_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"^pip could not fetch the libraries; it said .*$"):
        stick.pack(tmp_path, ["--no-index"])
    with pytest.raises(InputError, match="only be packed from its own folder"):
        stick.pack(tmp_path, source=tmp_path)
