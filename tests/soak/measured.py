"""What a process holds: memory, threads, open files, and what lies in its folders."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

SAME = 0.01  # of the memory, by which two looks may differ
STILL, LOOKS = 2, 12  # looks that must be the same, and at most


@dataclass(frozen=True)
class Held:
    """At one moment."""

    calls: int
    memory: float  # MB of its own: in use, or freed and not given back; pages of files are the system's to take back
    threads: int
    files: int
    disk: float  # MB

    def line(self) -> str:
        """For people."""
        return (
            f"{self.calls:>7,} calls: {self.memory:7,.0f} MB of memory, {self.threads:4} threads, {self.files:4} files open, "
            f"{self.disk:6,.0f} MB on the disk"
        )


def held(process: int, folders: Iterable[Path], calls: int) -> Held:
    """Now."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    told = {name: value.split()[0] for name, _, value in (line.partition(":") for line in lines) if value.split()}
    files = len(os.listdir(f"/proc/{process}/fd"))
    return Held(calls, int(told["RssAnon"]) / 1024, int(told["Threads"]), files, sum(map(_megabytes, folders)))


def settled(look: Callable[[], Held], pause: float) -> Held:
    """What is held once no more memory is given back in STILL looks in a row, `pause` seconds apart.

    It is given back in steps, the last when threads have ended: 1,795 MB were 1,290 after 6 s, as many for 18 s, and then 1,169.
    """
    now, still = look(), 0
    for _ in range(LOOKS):
        time.sleep(pause)
        before, now = now, look()
        still = still + 1 if now.memory >= (1 - SAME) * before.memory else 0
        if still == STILL:
            break
    return now


def _megabytes(folder: Path) -> float:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:  # gone meanwhile
            continue
    return total / 2**20


def flaws(early: Held, late: Held, most_disk: float) -> list[str]:
    """What grew that must not."""
    rules: list[tuple[str, Callable[[Held], float], float]] = [
        ("memory grew", lambda one: one.memory, early.memory * 1.05),
        ("threads grew", lambda one: one.threads, early.threads),
        ("open files grew", lambda one: one.files, early.files),
        ("the disk is fuller than its limits allow", lambda one: one.disk, most_disk),
    ]
    return [f"{told}: {value(late):,.0f} where {most:,.0f} is the most" for told, value, most in rules if value(late) > most]
