"""The container: the Dockerfile built by buildah, which needs no daemon, and the app started from the image as its account.

The base image must be in buildah's store or in a registry within reach. The build downloads PyTorch: gigabytes, unless
PIP_OPTIONS names smaller wheels. CONTAINER_IMAGE names an image built before.
"""

import http.client
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.benchmarks.startup import ROOT, wait_for
from tests.outside.test_space import EXAMPLES
from tests.ports import free_port

OWN = {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs"}  # what needs no rights over namespaces and file systems
ENDS_WITHIN = 25  # seconds, what `docker run` of the Dockerfile's first line grants


def buildah(*arguments: str, **options: object) -> str:
    """What buildah prints."""
    run = {"check": True, "capture_output": True, "text": True, "env": os.environ | OWN, **options}
    return subprocess.run(["buildah", *arguments], **run).stdout.strip()


@pytest.fixture(scope="module")
def image() -> str:
    """The image of this checkout."""
    if not shutil.which("buildah"):
        pytest.skip("no buildah on this machine; install it to build the container")
    if named := os.environ.get("CONTAINER_IMAGE"):
        return named
    pip = f"PIP_OPTIONS={os.environ.get('PIP_OPTIONS', '')}"
    buildah("bud", "--format", "docker", "--build-arg", pip, "-t", "bert-explorer-test", str(ROOT), capture_output=False)
    return "localhost/bert-explorer-test"


@dataclass
class Container:
    """A container of the image; its app may be started several times."""

    name: str

    def run(self, *command: str, **options: object) -> str:
        """What a command in it prints, run by the account of the image."""
        return buildah("run", self.name, "--", *command, **options)

    @contextmanager
    def app(self, command: list[str]) -> Iterator["App"]:
        """The app while it runs; at the end it is asked to stop, and must by itself."""
        port = free_port()
        own = [*command, "--port", str(port)]
        started = ["buildah", "run", self.name, "--", *own]
        process = subprocess.Popen(started, env=os.environ | OWN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            wait_for(port)
            yield App(port)
        finally:
            # A signal to buildah does not reach the app; with isolation by chroot its process is one of this machine's.
            subprocess.run(["pkill", "-TERM", "-f", rf"^\S+ {' '.join(own[1:])}$"], check=False)
            said = process.communicate(timeout=ENDS_WITHIN)[0]
        assert process.returncode == 0, said
        assert "Traceback" not in said, said


@dataclass
class App:
    """The app of a container, asked through its port."""

    port: int

    def ask(self, path: str, body: object = None) -> tuple[int, bytes]:
        """Status and content of an answer."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = None if body is None else json.dumps(body)
        line.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json"})
        answer = line.getresponse()
        found = answer.status, answer.read()
        line.close()
        return found

    def call(self, name: str, *arguments: object) -> dict:
        """What an endpoint answers."""
        return json.loads(self.ask(f"/gradio_api/run/{name}", {"data": arguments})[1])


@pytest.fixture(scope="module")
def settings(image) -> dict:
    """What the image says of itself."""
    return json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]


@pytest.fixture(scope="module")
def container(image) -> Iterator[Container]:
    name = buildah("from", "--pull-never", image)
    yield Container(name)
    buildah("rm", name)


def test_it_serves_strangers_as_an_account_that_writes_nothing_but_runs(container, settings):
    assert settings["User"] == "explorer"
    assert "BERT_EXPLORER_PROFILE=public" in settings["Env"]
    assert container.run("id", "-un") == "explorer"
    refused = "for place in /app /app/explorer /usr/local /etc; do touch $place/x 2>/dev/null && echo $place; done; true"
    assert container.run("sh", "-c", refused) == ""
    assert container.run("sh", "-c", "touch /data/x && rm /data/x && stat -c %a /data") == "700"


def test_what_was_trained_outlives_the_app_and_its_health_is_told(container, settings):
    kind, *health = settings["Healthcheck"]["Test"]
    (port,) = (one.split("/")[0] for one in settings["ExposedPorts"])
    assert kind == "CMD"
    with container.app(settings["Cmd"]) as app:
        folder = "/app/assets/models/bert-l6-h384-uncased"
        assert "error" in app.call("tokens", "Hello.", "", folder), "strangers may name no folder"
        told = app.call("train_head", EXAMPLES, -1, "mean", 2, 0.01, 8, 0, "", 0)
        head = told["data"][0]["head"]
        container.run(*health[:-1], health[-1].replace(port, str(app.port)))
    assert head in container.run("ls", "/data").split()
    with container.app(settings["Cmd"]) as app:
        assert app.call("classify", ["so happy"], head)["data"][0]["labels"][0] in ("happy", "sad")
    with pytest.raises(subprocess.CalledProcessError):
        container.run(*health)  # nothing answers any more


def test_it_starts_as_its_first_line_says(settings):
    first = (ROOT / "Dockerfile").read_text("utf-8").splitlines()[0].removeprefix("# ")
    words = shlex.split(first)
    assert settings["ExposedPorts"].keys() == {f"{words[words.index('-p') + 1].split(':')[-1]}/tcp"}
    assert settings["Volumes"].keys() == {words[words.index("-v") + 1].split(":")[-1]}
    assert words[words.index("--stop-timeout") + 1] == str(ENDS_WITHIN)
