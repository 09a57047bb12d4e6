"""Start BERT Explorer from this folder. Nothing is installed, and nothing leaves this machine."""

import os
import runpy
import sys
import sysconfig
import threading
import time
import urllib.request
import webbrowser

PYTHON, PLATFORM = "3.11", "linux-x86_64"  # where it was packed
HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = "http://127.0.0.1:7860/"


def check_python() -> None:
    """Exit with a sentence unless this Python can load what was packed."""
    python, platform = "{}.{}".format(*sys.version_info), sysconfig.get_platform()
    if python != PYTHON:
        sys.exit(f"This folder was packed for Python {PYTHON}, and this is {python}; install Python {PYTHON}, or pack it here.")
    if platform != PLATFORM:
        sys.exit(f"This folder was packed for {PLATFORM}, and this machine is {platform}; pack it here.")


def open_page() -> None:
    """Open the page as soon as the app answers."""
    for _ in range(240):
        try:
            urllib.request.urlopen(ADDRESS, timeout=10).close()
        except OSError:
            time.sleep(0.5)
        else:
            webbrowser.open(ADDRESS)
            return


if __name__ == "__main__":
    check_python()
    paths = [os.path.join(HERE, "app"), os.path.join(HERE, "libraries")]
    sys.path[:0], sys.dont_write_bytecode = paths, True
    # The same for processes that the app starts.
    os.environ.update(PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1")
    if len(sys.argv) == 1:
        print(f"BERT Explorer starts at {ADDRESS} in a few seconds; close this window to end it.", flush=True)
        threading.Thread(target=open_page, daemon=True).start()
    runpy.run_path(os.path.join(HERE, "app", "app.py"), run_name="__main__")
