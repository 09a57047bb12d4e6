"""Everything that can be called over HTTP, with arguments that are mostly as they should be."""

import json
import secrets
from dataclasses import dataclass
from urllib.parse import urlencode

from hypothesis import strategies as st

from tests.fuzz.values import ARGUMENTS, FIRST, ON_THE_PAGE, SCRIPT, hostile, hostile_like, layers, of_control, texts

events = st.fixed_dictionaries(
    {"index": layers | hostile, "value": st.sampled_from(["dog", 1]) | hostile},
    optional={"selected": st.booleans() | hostile, "row_value": hostile, "points": hostile, "indices": hostile},
)


@dataclass(frozen=True)
class Call:
    """What is sent to one function."""

    data: list
    event: object
    queued: bool


class Target:
    """An endpoint, or a handler of the page: what it takes, and what happens after it."""

    def __init__(self, visitor, listener, model):
        self.visitor, self.model, self.id = visitor, model, listener["id"]
        self.is_public = listener["api_visibility"] == "public"
        inputs = [visitor.components[one] for one in listener["inputs"]]
        self.first, self.usual = zip(*map(self._of_page, inputs), strict=True) if inputs else ((), ())
        if self.is_public:
            named = visitor.endpoints[f"/{listener['api_name']}"]["parameters"]
            self.first, self.usual = zip(*map(self._of_endpoint, named), strict=True) if named else ((), ())
        elements = [visitor.components.get(one, {}).get("props", {}).get("elem_id") for one, _ in listener["targets"]] or [None]
        self.name = f"/{listener['api_name']}" if self.is_public else f"{elements[0] or listener['api_name']} ({self.id})"
        self.inputs, self.outputs, self.element = listener["inputs"], listener["outputs"], elements[0]
        self.triggers = [one for one, _ in listener["targets"]]
        self.pressed = [element for element in elements if element]
        self.streams = listener["types"]["generator"]
        self.clicked = listener["collects_event_data"]
        self.then = [one for one in visitor.config["dependencies"] if one["trigger_after"] == self.id and one["backend_fn"]]

    def __repr__(self):
        return self.name

    def _of_page(self, component):
        element = component["props"].get("elem_id")
        if element in ("model-name", "model-box"):
            return self.model, st.just(self.model)
        return ON_THE_PAGE.get(element, component["props"].get("value")), of_control(component)

    def _of_endpoint(self, parameter):
        name = parameter["parameter_name"]
        first = self.model if name == "model" else FIRST.get(name, parameter["parameter_default"])
        return first, ARGUMENTS.get(name, st.just(first))

    def calls(self):
        """What may be sent: all as at first but a few values, one or two of them hostile."""
        lengths = st.sampled_from([0] * 18 + [-1, 1])
        ways = st.just(True) if self.streams else st.sampled_from([False] * 5 + [True])
        clicks = events if self.clicked else st.none()
        strange = st.one_of(_changes(list(map(hostile_like, self.first)), 1), _changes([hostile] * len(self.first), 2))
        return st.builds(self._call, _changes(self.usual, 4), strange, lengths, clicks, ways)

    def _call(self, usual, strange, longer, event, queued):
        changed = {**usual, **strange}
        data = [changed.get(place, value) for place, value in enumerate(self.first)]
        return Call([*data, SCRIPT][: len(data) + longer] if longer else data, event, queued)

    def send(self, call, session=""):
        """Make a call in a session of its own, and what the page makes after it when it went well."""
        session = session or secrets.token_hex(8)
        self._prepare(call, session)
        way = self.visitor.join if call.queued else self.visitor.call
        answer = way(self.id, call.data, session, call.event, sent=self.model)
        for after in self.after() if answer.data is not None else ():
            after.send(Call(list(after.first), None, after.streams), session)
        return answer

    def _prepare(self, call, session):
        """Let what this waits for be in the session: a state that something else leaves there."""
        states = {one for one in self.triggers if self.visitor.components.get(one, {}).get("type") == "state"}
        if not states or not self.streams:
            return
        source = next(one for one in self.visitor.config["dependencies"] if states & set(one["outputs"]) and one["inputs"])
        known = dict(zip(self.inputs, call.data, strict=False))
        self.visitor.call(source["id"], [known.get(place) for place in source["inputs"]], session, sent=self.model)

    def after(self):
        return [Target(self.visitor, listener, self.model) for listener in self.then]


def _changes(strategies, most):
    """Values for some places, of each place by its own strategy."""
    pairs = [st.tuples(st.just(place), strategy) for place, strategy in enumerate(strategies)]
    return st.lists(st.one_of(pairs), max_size=most, unique_by=lambda pair: pair[0]).map(dict) if pairs else st.just({})


def targets(visitor, model):
    visitor.endpoints = json.loads(visitor._exchange("GET", "/gradio_api/info").body)["named_endpoints"]
    return [Target(visitor, listener, model) for listener in visitor.config["dependencies"] if listener["backend_fn"]]


LINKED = ["a", "b", "layer", "head", "token", "tab", "model", "__theme", "x", "v", "view", "off", "swap", "patch", "cut"]
LINKED += ["set.top_p", "set.heads", "set.look", "set.sentences", "set.picked", "set.nothing"]
links = st.dictionaries(
    st.sampled_from(LINKED),
    texts.filter(lambda text: len(text) < 5_000).map(lambda text: text.encode("utf-8", "replace").decode()) | layers.map(str),
    max_size=5,
)


def open_link(opening, parameters):
    """Open a link as a browser does: the page, then what it asks for when it is there."""
    visitor, query = opening.visitor, "?" + urlencode(parameters)
    page = visitor._exchange("GET", f"/{query}")
    assert page.status == 200, f"status {page.status} for a link"
    assert SCRIPT.encode() not in page.body, "what a link says is in the page as it is"
    session = secrets.token_hex(8)
    answer = visitor.call(opening.id, list(opening.first), session, sent=opening.model, query=query)
    for after in opening.after() if answer.data is not None else ():
        shown = {place: value for place, value in zip(opening.outputs, answer.data, strict=True) if isinstance(value, str)}
        data = [shown.get(place, value) for place, value in zip(after.inputs, after.first, strict=True)]
        visitor.call(after.id, data, session, sent=opening.model)
