"""Write requirements.lock: every package that requirements.txt leads to, with its version and the hashes of its files.

python3.12 -m tests.outside.lock

pip says what it would install for the Python of the container, which runs this, on x86-64 and on 64-bit ARM. PyTorch and what
only its CUDA builds bring stay out: every index has its own builds of one version, and the operator chooses the index.
"""

import json
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
OF_TORCH = ("torch", "triton", "nvidia-", "cuda-")
MACHINES = ("x86_64", "aarch64")
LINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_26", "manylinux_2_24", "manylinux_2_17", "manylinux2014")
HEAD = (
    "# Made of requirements.txt by `python3.12 -m tests.outside.lock`, for Linux: all but PyTorch, whose files differ by index.\n"
    "# pip install --no-deps --require-hashes -r requirements.lock && pip install -r requirements.txt\n"
)
Found = dict[tuple[str, str], set[str]]  # hashes by name and version


def asked(*arguments: str) -> Found:
    """What pip would install, with the hash of each file."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "-q", "--report", str(report)]
        subprocess.run([*command, *arguments], check=True)
        found: Found = defaultdict(set)
        for one in json.loads(report.read_text("utf-8"))["install"]:
            name, version = one["metadata"]["name"].lower().replace("_", "-").replace(".", "-"), one["metadata"]["version"]
            if not name.startswith(OF_TORCH):
                found[name, version].add(one["download_info"]["archive_info"]["hashes"]["sha256"])
        return found


def main() -> None:
    """Ask for this machine, then for the others the same versions."""
    packages = asked("-r", str(ROOT / "requirements.txt"))
    pinned = [f"{name}=={version}" for name, version in packages]
    for machine in set(MACHINES) - {platform.machine()}:
        platforms = [part for linux in LINUX for part in ("--platform", f"{linux}_{machine}")]
        with tempfile.TemporaryDirectory() as target:
            for package, hashes in asked("--no-deps", "--target", target, *platforms, *pinned).items():
                packages[package] |= hashes
    lines = []
    for (name, version), hashes in sorted(packages.items()):
        lines += [f"{name}=={version}", *(f"    --hash=sha256:{one}" for one in sorted(hashes))]
    text = "\n".join(lines).replace("\n    ", " \\\n    ")
    LOCK.write_text(f"{HEAD}{text}\n", "utf-8")


if __name__ == "__main__":
    main()
