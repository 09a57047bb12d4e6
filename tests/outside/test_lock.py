"""What the lock names is what an index has: pip takes every file of it."""

import shutil
import subprocess
import sys

import pytest

from tests.outside.lock import LOCK

INSTALL = ("-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--require-hashes", "-q", "-r")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A fresh virtual environment of the Python that the container has, or else of the present one."""
    folder = tmp_path_factory.mktemp("lock") / "venv"
    subprocess.run([shutil.which("python3.12") or sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


def test_every_file_is_the_one_that_was_locked(python):
    if subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 12))"], check=False).returncode:
        pytest.skip("no Python 3.12 on this machine, for which the files were locked")
    subprocess.run([python, *INSTALL, str(LOCK)], check=True)
