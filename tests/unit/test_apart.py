"""Large files are read in a process of their own, which has limits and ends with ours."""

import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from explorer.core import apart, limits
from explorer.core.errors import BusyError, InputError, ModelError
from explorer.core.scheduling import Call, Places
from tests import readers
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its limits are those of POSIX")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that is not read in this process."""
    path = tmp_path / "input.txt"
    path.write_text("abc" * apart.SMALL)
    return path


def test_a_large_file_is_read_elsewhere_and_a_small_one_here(large, tmp_path):
    small = tmp_path / "small.txt"
    small.write_text("abc")
    for path, here in ((small, True), (large, False)):
        process, table, numbers, more = readers.read_here(path, more="x")
        assert (process == os.getpid()) is here
        assert (table.rows, table.name, more) == ((("abc",),), path.name, "x")
        assert np.array_equal(numbers, [0, 1, 2])


def test_the_same_file_is_read_once_for_each_question(large):
    first, again, other = readers.read_here(large), readers.read_here(str(large)), readers.read_here(large, "else")
    assert first is again
    assert other[0] != first[0]
    large.write_text("xyz" * apart.SMALL)
    assert readers.read_here(large)[1].rows == (("xyz",),)


def test_an_error_arrives_with_its_class_and_sentence_and_is_kept(large):
    with pytest.raises(InputError, match=r"Process \d+; send another file.") as first:
        readers.refuse(large)
    with pytest.raises(InputError) as again:
        readers.refuse(large)
    assert str(first.value) == str(again.value)
    with pytest.raises(ModelError):
        readers.refuse(large.rename(large.with_name("other.txt")))


def test_a_fault_of_ours_arrives_without_the_visitors_text(large, capfd):
    with pytest.raises(RuntimeError) as error:
        readers.fail(large)
    told = capfd.readouterr().err
    assert "raise KeyError" in told
    assert not isinstance(error.value, InputError)
    assert "abcabc" not in str(error.value) + told


@pytest.mark.parametrize("read", [readers.fill, readers.turn, readers.repeat])
def test_too_much_memory_or_time_or_too_long_an_answer_ends_in_a_sentence(read, large, monkeypatch):
    monkeypatch.setattr(apart, "FILE_SECONDS", 1 if read is readers.turn else 3)
    monkeypatch.setattr(apart, "MOST_ANSWER", 1_000)
    monkeypatch.setenv(f"{limits.PREFIX}WORK_MEGABYTES", "512")
    monkeypatch.setattr(apart, "PATIENCE", 100)  # beside other tests, on few cores
    with pytest.raises(InputError) as error:
        read(large)
    assert str(error.value) == limits.WORK_MEGABYTES.tell()


def test_it_ends_with_the_process_that_asked(large):
    code = f"from pathlib import Path; from tests import readers; readers.sleep(Path({str(large)!r}))"
    with subprocess.Popen([sys.executable, "-c", code], cwd=apart.ROOT) as parent:
        told = large.with_suffix(".pid")
        wait_until(lambda: told.exists() and told.read_text())
        parent.kill()
    child = Path("/proc") / told.read_text()
    if not Path("/proc").exists():
        pytest.skip("this system does not list processes there")
    wait_until(lambda: not child.exists() or "Z" in (child / "stat").read_text())


def test_an_answer_holds_plain_values_arrays_and_our_records_only(tmp_path):
    for value in (print, subprocess.run, Path("x"), apart.apart):
        with (tmp_path / "answer").open("w+b") as file:
            pickle.dump((value,), file)
            file.seek(0)
            with pytest.raises(pickle.UnpicklingError):
                apart._Plain(file).load()


def test_few_are_read_at_the_same_time_and_one_of_each_visitor():
    held, let_go = [], threading.Event()

    def hold(visitor: str) -> None:
        with apart._places.place_of_thread(address=visitor):
            held.append(visitor)
            let_go.wait(60)

    threads = [threading.Thread(target=hold, args=(visitor,)) for visitor in ("a", "a", "a", "b", "c")]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(held) == apart.FILE_READERS)
    assert sorted(held) == ["a", "b"] or sorted(held) == ["a", "c"]
    let_go.set()
    for thread in threads:
        thread.join()
    assert sorted(held) == ["a", "a", "a", "b", "c"]
    assert (apart._places._held, apart._places._waiting) == ([], {})
    many = Places(2, limits.WAITING_WORKS)
    many._held, many._waiting = [Call("a")], {Call("a"): Future() for _ in range(limits.WAITING_WORKS.most * 3 // 4)}
    with pytest.raises(BusyError), many.place_of_thread(address="a"):
        pass
    with many.place_of_thread(address="b"):
        pass


def test_no_reader_imports_what_is_slow_or_large():
    modules = {name.partition(":")[0] for name in apart.READERS}
    code = f"import sys\nfor name in {sorted(modules)}: __import__(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=apart.ROOT, capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "gradio", "pandas", "sklearn"} & set(done.stdout.split())


def test_on_a_busy_machine_nothing_is_kept_against_a_file(large, monkeypatch):
    monkeypatch.setattr(apart, "PATIENCE", 0.01)
    with pytest.raises(BusyError):
        readers.sleep(large)
