"""Start BERT Explorer from this folder. Nothing is installed, and nothing leaves this machine."""

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import urllib.request
import webbrowser

PYTHON, PLATFORM = (3, 11), "linux-x86_64"  # where it was packed
HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = "http://127.0.0.1:7860/"


def check_python() -> None:
    """Exit with a sentence unless this Python can load what was packed."""
    wanted, own = ("{}.{}".format(*version) for version in (PYTHON, sys.version_info))
    kind = sysconfig.get_platform()
    if own != wanted:
        sys.exit(f"This folder was packed for Python {wanted}, and this is {own}; install Python {wanted}, or pack it here.")
    if kind != PLATFORM:
        sys.exit(f"This folder was packed for {PLATFORM}, and this machine is {kind}; pack it here.")


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


def main(arguments: list) -> int:
    """Run the app, and open its page unless there are arguments. Returns the app's exit status."""
    check_python()
    paths = os.pathsep.join(os.path.join(HERE, one) for one in ("app", "libraries"))
    environment = dict(os.environ, PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1")
    if not arguments:
        print(f"BERT Explorer starts at {ADDRESS} in a few seconds; close this window to end it.", flush=True)
        threading.Thread(target=open_page, daemon=True).start()
    return run([sys.executable, "-s", os.path.join(HERE, "app", "app.py"), *arguments], environment)


def run(command: list, environment: dict) -> int:
    """Run the app until it ends, and tell it to end when this program is told to. Returns its exit status."""
    with subprocess.Popen(command, env=environment) as app:
        signal.signal(signal.SIGTERM, lambda *_: app.terminate())
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app hears Ctrl-C by itself; a second signal would cut its end short
        return app.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
