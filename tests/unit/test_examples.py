"""What the guide and the README show for programs does what it says, against the app as it is served."""

import json
import re
import shutil
import subprocess
from urllib.request import urlopen

import numpy as np
import pytest

from explorer.endpoints import ENDPOINTS

TEXT = "The cat sat on the mat."
ADDRESS = "http://127.0.0.1:7860"


@pytest.fixture
def example(guide, readme, served):
    def of(language):
        (code,) = re.findall(rf"<!-- example {language} -->\n```\w+\n(.*?)```", readme + guide["api"], flags=re.DOTALL)
        assert ADDRESS in code
        return code.replace(ADDRESS, served)

    return of


@pytest.fixture
def weights(bundled):
    return bundled.trace(TEXT).attention(2)[6]


@pytest.mark.parametrize("language", ["python", "get"])
def test_in_python(example, weights, language, monkeypatch):
    monkeypatch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
    names = {}
    exec(compile(example(language), "guide", "exec"), names)
    frame = names["weights"]
    assert (frame["layer"].unique().tolist(), frame["head"].unique().tolist()) == ([3], [7])
    found = frame.pivot(index="query_position", columns="key_position", values="weight").to_numpy()
    np.testing.assert_allclose(found, weights, atol=1e-6)  # added up by other threads


def test_the_short_one_of_the_readme(example, bundled, monkeypatch):
    monkeypatch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
    names = {}
    exec(compile(example("short"), "README", "exec"), names)
    wanted = [one.token for one in bundled.fill_mask("The sky is [MASK].", top_k=5)[0].candidates]
    assert [one["token"] for one in names["guesses"]] == wanted


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl on this machine")
def test_with_curl(example, weights):
    done = subprocess.run(["bash", "-c", example("curl")], capture_output=True, check=True, timeout=120)
    rows = json.loads(done.stdout)["data"][0]["tables"]["heatmap"]["rows"]
    np.testing.assert_allclose([row[-1] for row in rows], weights.ravel(), atol=1e-6)


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node on this machine; a browser runs it in tests/browser")
def test_in_javascript(example, weights):
    command = ["node", "--input-type=module", "-e", example("javascript")]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120, text=True)
    assert done.stdout.strip().endswith(f" {weights.size}")


def test_every_endpoint_is_in_openapis_words(served):
    with urlopen(f"{served}/gradio_api/openapi.json", timeout=60) as answer:
        described = json.load(answer)
    assert described["openapi"].startswith("3.")
    for endpoint in ENDPOINTS:
        body = described["paths"][f"/gradio_api/call/v2/{endpoint.__name__}"]["post"]
        assert body["summary"]
