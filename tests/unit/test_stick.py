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

ROOT = Path(__file__).resolve().parents[2]
PYTHON, KIND = "{}.{}".format(*sys.version_info), sysconfig.get_platform()
APP = """
import os, signal, sys, time
import small

print(small.__file__, os.environ["HF_HUB_OFFLINE"], sys.argv[1:], flush=True)
if "--wait" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the app was told to end"))
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A stick with a small app, and where it is unpacked; nothing can be written there."""
    folder = tmp_path_factory.mktemp("stick")
    source, wheels = folder / "source", folder / "wheels"
    for place in ("explorer/__pycache__", "assets/stick", "assets/screenshots"):
        (source / place).mkdir(parents=True)
    wheels.mkdir()
    (source / "app.py").write_text(APP)
    (source / "requirements.txt").write_text("small==1.0\n")
    (source / "assets/stick/start.py").write_text((ROOT / "assets/stick/start.py").read_text("utf-8"))
    for name in ("README.md", "LICENSE", "explorer/kept.py", "explorer/__pycache__/left.pyc", "assets/screenshots/left.png"):
        (source / name).write_text("")
    with zipfile.ZipFile(wheels / "small-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("small.py", "")
        wheel.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        wheel.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("small-1.0.dist-info/RECORD", "")
    path = stick.pack(folder / "out", ["--no-index", "--find-links", str(wheels)], source)
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(path), str(folder)], check=True)
    for place in (folder / path.stem).rglob("*"):
        place.chmod(0o555)
    return path, folder / path.stem


def test_what_is_not_needed_is_left_out_and_its_script_can_be_started(packed):
    path, _ = packed
    assert path.name == f"bert-explorer-{KIND}-python{PYTHON}.zip"
    with zipfile.ZipFile(path) as read:
        names = [file.filename.partition("/")[2] for file in read.infolist()]
        mode = next(file.external_attr >> 16 for file in read.infolist() if file.filename.endswith("/start.sh"))
    assert {"app/app.py", "app/explorer/kept.py", "libraries/small.py", "start.py", "start.sh"} <= set(names)
    assert not [name for name in names if "left" in name]
    assert mode & 0o111 == 0o111


@pytest.mark.skipif(os.name == "nt", reason="there a program is ended without being told")
def test_it_starts_with_its_own_libraries_and_what_it_is_given_and_ends_when_told(packed):
    _, folder = packed
    place = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    command = ["sh", folder / "start.sh", "--wait"]
    with subprocess.Popen(command, env=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout.readline() == f"{folder / 'libraries' / 'small.py'} 1 ['--wait']\n"
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGTERM)
        _, told = started.communicate(timeout=60)
    assert (started.returncode, told) == (1, "the app was told to end\n")


@pytest.mark.parametrize(
    ("packed_for", "sentence"),
    [
        (
            f'"2.7", "{KIND}"',
            f"This folder was packed for Python 2.7, and this is {PYTHON}; install Python 2.7, or pack it here.",
        ),
        (f'"{PYTHON}", "abacus"', f"This folder was packed for abacus, and this machine is {KIND}; pack it here."),
    ],
)
def test_another_machine_is_told_in_a_sentence(packed, tmp_path, packed_for, sentence):
    _, folder = packed
    text, own = (folder / "start.py").read_text("utf-8"), f'"{PYTHON}", "{KIND}"'
    assert own in text, "where it was packed"
    (tmp_path / "start.py").write_text(text.replace(own, packed_for), "utf-8")
    done = subprocess.run([sys.executable, tmp_path / "start.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, sentence)


def test_a_machine_without_that_python_is_told_where_it_is(packed):
    _, folder = packed
    done = subprocess.run(["/bin/sh", folder / "start.sh"], env={"PATH": os.devnull}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"Install Python {PYTHON} first" in done.stdout


def test_what_cannot_be_packed_is_told_in_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match="pip could not fetch"):
        stick.pack(tmp_path, ["--no-index"])
    with pytest.raises(SystemExit, match="only be packed from its own folder"):
        stick.pack(tmp_path, source=tmp_path)
