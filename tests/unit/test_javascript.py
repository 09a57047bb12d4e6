"""JavaScript modules are joined into one script that does the same."""

import re

import pytest

from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS


@pytest.fixture
def joined(tmp_path):
    """Joins modules that are given by their names."""

    def made(entries, **modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.js").write_text(text, "utf-8")
        return bundle([f"{one}.js" for one in entries], tmp_path)

    return made


def test_a_module_comes_once_after_all_that_it_needs_and_without_what_nobody_imports(joined):
    script = joined(
        ["page", "b"],
        page='import { two as deux,\n  one } from "./a.js";\nimport "./b.js";\nrun(one, deux);\n',
        a='import * as b from "./b.js";\n\nexport const one = b.three;\nexport async function two() {}\n',
        b="// About b.\n/**\n * @returns {number}\n */\nexport class three {}",
        other="export const unused = 1;\n",
    )
    bodies = re.findall(r"const (module\d) = \(\(\) => \{ // (\w)", script)
    assert bodies == [("module0", "b"), ("module1", "a"), ("module2", "p")]
    assert "const { two: deux, one } = module1;" in script
    assert "const b = module0;" in script
    assert "return { one, two };" in script
    assert "return { three };" in script
    assert "unused" not in script
    assert "About b" not in script
    assert "@returns" not in script


def test_no_script_ends_its_element(joined):
    assert "</script" not in joined(["text"], text='export const text = "</script><b></b>";\n')


def test_comments_are_taken_out_of_no_template_or_text():
    """Only lines that begin with a comment are left out, which inside a template of several lines would be text."""
    for path in ASSETS.rglob("*.js"):
        for template in re.findall(r"`[^`]*`", re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text("utf-8"), flags=re.MULTILINE)):
            assert not re.search(r"\n\s*//", template), path


def test_our_modules_have_one_style_and_one_global_name():
    for path in set(ASSETS.rglob("*.js")) - set((ASSETS / "vendor").iterdir()):
        text = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
        assert not re.search(r"\bthis\.\w", text), path
        assert set(re.findall(r"\bwindow\.([A-Z]\w*) = ", text)) <= {"BertExplorer"}, path
