"""Pack the app for a USB stick: `python -m explorer.stick [OPTIONS FOR PIP]` writes a zip into the current folder.

The zip holds the app, every library that it needs, and a script to start it. It runs on machines of the same kind with the same
version of Python, without a network, pip, an installation or an account that may install.
"""

import compileall
import platform
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

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
    """Write the zip into a folder; `options` go to pip. Returns its path. Exits when pip fails, which has said why."""
    python, kind = "{}.{}".format(*sys.version_info), sysconfig.get_platform()
    if not (source / "app.py").is_file():
        sys.exit("The app can only be packed from its own folder; clone it, and run this there.")
    name = f"bert-explorer-{kind}-python{python}"
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary) / name
        (made / "app").mkdir(parents=True)
        for needed in NEEDED:
            if (source / needed).is_dir():
                shutil.copytree(source / needed, made / "app" / needed, ignore=LEFT_OUT)
            else:
                shutil.copy(source / needed, made / "app" / needed)
        pip = [sys.executable, "-m", "pip", "install", "--no-compile", "-q", "--target", str(made / "libraries")]
        if subprocess.run([*pip, *options, "-r", str(made / "app" / "requirements.txt")], check=False).returncode:
            sys.exit("pip could not fetch the libraries.")
        # By a hash that is not checked: a zip and a stick round the times by which other compiled files would count as old.
        compileall.compile_dir(made, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        program = (source / "assets" / "stick" / "start.py").read_text("utf-8")
        packed = f'PYTHON, PLATFORM = "{python}", "{kind}"'
        made.joinpath("start.py").write_text(re.sub(r'^PYTHON, PLATFORM = .*"', packed, program, flags=re.MULTILINE), "utf-8")
        start, script = STARTS.get(platform.system(), STARTS["Linux"])
        made.joinpath(start).write_text(script.format(python=python), "utf-8", newline="")
        made.joinpath(start).chmod(0o755)
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.make_archive(str(folder / name), "zip", temporary, name))


if __name__ == "__main__":
    path = pack(Path(), sys.argv[1:])
    print(f"{path}: {path.stat().st_size / 1e6:,.0f} MB")
