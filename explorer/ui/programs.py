"""Programs that compute a view's numbers with transformers alone: files of the folders `scripts`, filled in for a view.

Each runs as it stands, on the bundled BERT. For a view, `from explorer… import …` is replaced by the contents of that file, and
a value assigned in a line of its own (`layer = 1`) by that of the page. What was typed is written with `repr`, which keeps it on
one line and inside its quotes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.bert.checkpoints import BUNDLED, TUNED
from explorer.bert.hub import Place
from explorer.text.pieces import with_own_mask
from explorer.ui.subject import Subject
from explorer.ui.view import View

ROOT = Path(__file__).resolve().parents[2]  # of the module names
SHIPPED = Path(__file__).resolve().with_name("scripts") / "shipped.py"
INCLUDE = re.compile(r"^from (explorer\.[\w.]+) import", re.MULTILINE)
ASSIGNMENT = re.compile(r"(?P<name>\w+) = .*?(?P<comment>  # .*)?")
WIDE = 100  # characters of a list on one line

Values = dict[str, Any] | None


@dataclass(frozen=True)
class Program:
    """A program for a view. It does not fit if another setting than `settings` differs from its default.

    The selection and these settings go by their names; `values` returns what else is filled in, or None if the program does not
    fit after all.
    """

    file: Path
    settings: tuple[str, ...] = ()
    values: Callable[[Any, Subject], Values] = lambda view, subject: {}
    every_family: bool = False  # otherwise it names the parts of BERT

    def write(self, view: View, subject: Subject) -> str:
        """Its text for a view; '' if it does not fit."""
        if not self._fits(view, subject) or (values := self.values(view, subject)) is None:
            return ""
        text_a, text_b = typed(subject, subject.text_a, subject.text_b)
        chosen = subject.selection
        given = {"text_a": text_a, "text_b": text_b or None, "token": subject.token}
        given |= {"layer": chosen.attention_layer + 1, "head": chosen.head}
        given |= {name: getattr(view, name) for name in self.settings} | values
        if subject.model.name != BUNDLED:
            given["MODEL"] = _place(subject).id
        return self._joined(view.question, given, _place(subject).revision)

    def _fits(self, view: View, subject: Subject) -> bool:
        model = subject.model
        is_bert = model.family.model_type == "bert" and model.capabilities.segments
        is_anywhere = not model.name.startswith(TUNED)  # and not only in the memory of the app
        return is_anywhere and (self.every_family or is_bert) and view.changed().keys() <= set(self.settings)

    def _joined(self, question: str, given: Mapping[str, Any], revision: str | None) -> str:
        """The imports of all files, then what else is in them."""
        imports, bodies = set[str](), list[str]()
        for file in _files(self.file):
            if file == SHIPPED and "MODEL" in given:
                continue
            lines = file.read_text("utf-8").splitlines()
            taken = [line for line in lines if line.startswith(("import ", "from "))]
            imports |= {line for line in taken if not INCLUDE.match(line)}
            body = "\n".join(line for line in lines if line not in taken and not line.startswith('"""')).strip("\n")
            if revision:
                body = body.replace("from_pretrained(MODEL", f"from_pretrained(MODEL, revision={revision!r}")
            body = "\n".join(_filled(line, given) for line in body.splitlines())
            bodies.append(f"\n{body}\n" if body.startswith("def ") else body)
        return "\n\n".join([f'"""{question}"""', "\n".join(sorted(imports, key=_import_order)), *filter(None, bodies)]) + "\n"


def programs(file: str) -> Callable[..., Program]:
    """A maker of the programs in the folder `scripts` beside a file, by their names."""
    folder = Path(file).resolve().with_name("scripts")
    return lambda name, *settings, **more: Program(folder / f"{name}.py", settings, **more)


def typed(subject: Subject, *texts: str) -> list[str]:
    """The texts, with the model's own mask token in place of [MASK]."""
    return [with_own_mask(text, subject.model.tokenizer.mask_token)[0] for text in texts]


def _place(subject: Subject) -> Place:
    model = subject.model
    return Place.of(model.name) if model.from_hub else Place(model.name, None)


def _files(file: Path) -> list[Path]:
    """The files that a file includes, each once and before what includes it, and itself."""
    modules = INCLUDE.findall(file.read_text("utf-8"))
    included = (one for module in modules for one in _files(ROOT.joinpath(*module.split(".")).with_suffix(".py")))
    return [*dict.fromkeys(included), file]


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


def _filled(line: str, given: Mapping[str, Any]) -> str:
    """A line with the value of the page, if it assigns one."""
    found = ASSIGNMENT.fullmatch(line)
    if not found or found["name"] not in given:
        return line
    value, comment = given[found["name"]], found["comment"] or ""
    written = repr(value)
    if isinstance(value, list) and len(written) > WIDE:
        rows = "".join(f"    {row!r},\n" for row in value)
        return f"{found['name']} = [{comment}\n{rows}]"
    return f"{found['name']} = {written}{comment}"
