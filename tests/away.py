"""Run scripts with a Python that cannot import this app: it starts once, which takes three seconds, and forks for each script."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

FORKS = """
import json, os, runpy, sys, traceback
import transformers.modeling_utils  # what opening any model imports: a second and a half that no script spends again
from transformers import AutoModel, AutoTokenizer
sys.modules["explorer"] = None  # not where it is installed, either
print("ready", flush=True)
for line in sys.stdin:
    folder, out, told, *sys.argv = json.loads(line)
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    for number, path in enumerate((os.devnull, out, told)):
        os.dup2(os.open(path, os.O_RDWR), number)
    os.chdir(folder)
    code = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)
"""


class Away:
    """A process of its own for scripts, in which this app cannot be imported."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process
        assert process.stdout.readline() == "ready\n"

    def run(self, script: Path, *arguments: str) -> SimpleNamespace:
        """Run a script in this process's folder; returns what `subprocess.run` would: returncode, stdout and stderr."""
        with tempfile.NamedTemporaryFile("r") as said, tempfile.NamedTemporaryFile("r") as told:
            asked = [str(script.parent), said.name, told.name, str(script), *arguments]
            self._process.stdin.write(f"{json.dumps(asked)}\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return SimpleNamespace(returncode=code, stdout=said.read(), stderr=told.read())


@contextmanager
def away() -> Iterator[Away]:
    """A context manager with an `Away`, which stops at its end."""
    command = [sys.executable, "-I", "-c", FORKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Away(process)
        finally:
            process.stdin.close()
