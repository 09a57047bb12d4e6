"""Pack the app for a USB stick: `python -m explorer.stick [FOLDER] [-- OPTIONS FOR PIP]`.

The zip holds the app, every library that it needs, and a script to start it. It runs on machines of the same kind with the same
version of Python, without a network, pip, an installation or an account that may install.
"""

import argparse
import compileall
import platform
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from explorer.core.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("app.py", "requirements.txt", "README.md", "LICENSE", "explorer", "assets")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "recipe", "screenshots")
SHELL = """#!/bin/sh
command -v python{python} > /dev/null || {{ echo "Install Python {python} first; it is at python.org."; exit 1; }}
exec python{python} "$(dirname "$0")/start.py" "$@"
"""
BATCH = """@echo off\r
py -{python} "%~dp0start.py" %*\r
if errorlevel 1 pause\r
"""
STARTS = {"Windows": ("start.bat", BATCH), "Darwin": ("start.command", SHELL), "Linux": ("start.sh", SHELL)}


def pack(folder: Path, options: Sequence[str] = (), source: Path = ROOT) -> Path:
    """Write the zip into a folder; `options` go to pip. Returns its path. Raises InputError, with what pip said last."""
    python, kind = "{}.{}".format(*sys.version_info[:2]), sysconfig.get_platform()
    if not (source / "app.py").is_file():
        raise InputError("The app can only be packed from its own folder; clone it, and run this there.")
    name = f"bert-explorer-{kind}-python{python}"
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary) / name
        (made / "app").mkdir(parents=True)
        for one in NEEDED:
            if (source / one).is_dir():
                shutil.copytree(source / one, made / "app" / one, ignore=LEFT_OUT)
            else:
                shutil.copy(source / one, made / "app" / one)
        _install(made / "app" / "requirements.txt", made / "libraries", options)
        # By a hash that is not checked: a zip and a stick round the times by which other compiled files would count as old.
        compileall.compile_dir(made, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        _write_start(made, source, python, kind)
        return _zipped(made, folder / f"{name}.zip")


def _install(requirements: Path, folder: Path, options: Sequence[str]) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-compile",
        "-q",
        "--target",
        str(folder),
    ]
    done = subprocess.run([*command, *options, "-r", str(requirements)], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["nothing."]
        raise InputError(f"pip could not fetch the libraries; it said {said[-1].removeprefix('ERROR: ')}")


def _write_start(made: Path, source: Path, python: str, kind: str) -> None:
    """What starts it: a script to click, and the program that it runs, which knows where it was packed."""
    text = (source / "assets" / "stick" / "start.py").read_text("utf-8")
    packed = f'PYTHON, PLATFORM = ({python.replace(".", ", ")}), "{kind}"'
    made.joinpath("start.py").write_text(re.sub(r'^PYTHON, PLATFORM = .*"', packed, text, flags=re.MULTILINE), "utf-8")
    name, script = STARTS.get(platform.system(), STARTS["Linux"])
    made.joinpath(name).write_text(script.format(python=python), "utf-8", newline="")
    made.joinpath(name).chmod(0o755)


def _zipped(folder: Path, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for one in sorted(folder.rglob("*")):
            packed.write(one, one.relative_to(folder.parent))
    return path


def main(arguments: Sequence[str]) -> None:
    """Pack it, and print where it is and how large."""
    ours = list(arguments)
    options = ours[ours.index("--") + 1 :] if "--" in ours else []
    parser = argparse.ArgumentParser(prog="python -m explorer.stick", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="where to write the zip (default: here)")
    try:
        path = pack(parser.parse_args(ours[: len(ours) - len(options)]).folder, options)
    except InputError as error:
        sys.exit(str(error))
    with zipfile.ZipFile(path) as packed:
        whole = sum(one.file_size for one in packed.infolist())
    print(f"{path}: {path.stat().st_size / 1e6:,.0f} MB, {whole / 1e6:,.0f} MB unpacked")


if __name__ == "__main__":
    main(sys.argv[1:])
