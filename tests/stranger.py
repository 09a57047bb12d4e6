"""A client with plain HTTP, for tests of rules that must hold for every client."""

import functools
import json
import secrets

from tests.asking import ask


class Stranger:
    def __init__(self, address):
        self.address, self.session = address, secrets.token_hex(8)
        self.config = json.loads(self.get("/config")[1])
        self.components = {component["id"]: component for component in self.config["components"]}

    def get(self, path):
        return ask(self.address, "GET", path)[1:]

    def status(self, path):
        return ask(self.address, "GET", path)[0]

    def post(self, path, body):
        return json.loads(ask(self.address, "POST", path, body)[2])

    def ask(self, name, *data):
        return self.post(f"/gradio_api/run/{name}", {"data": data})

    def press(self, element, event="click", **given):
        """Call a handler of the page; `given` are values by element id, other values are the initial ones."""
        target = next(one["id"] for one in self.config["components"] if one["props"].get("elem_id") == element)
        return self._happens(target, event, given)

    def draw(self, pulse, chosen=None, event="select", **given):
        """Ask for a drawing of a choice ("attention/One head"), or ("") of a tab that is not built.

        The event "rest" asks for what a drawing at once left out. Components not sent to a browser are null, as from a browser.
        """
        script = f'"name": {json.dumps(pulse)}'
        mounted = {one["id"]: one["props"].get("js_on_load") or "" for one in self.config["components"]}
        target = next(number for number, js in mounted.items() if "mount('Pulse'" in js and script in js)
        answer = self._happens(target, event, given, {"index": chosen or {}, "value": ""}, self.sent)
        self.sent |= {one["id"] for one in (answer.get("render_config") or {}).get("components", ())}
        return answer

    @functools.cached_property
    def page(self):
        """The configuration of the page when it opens."""
        return json.JSONDecoder().raw_decode(self.get("/")[1].decode().partition("window.gradio_config = ")[2])[0]

    @functools.cached_property
    def sent(self):
        """The components of the page when it opens."""
        return {one["id"] for one in self.page["components"]}

    def _happens(self, target, event, given, data=None, known=None):
        listener = next(one for one in self.config["dependencies"] if [target, event] in [list(t) for t in one["targets"]])
        values = [
            given.get(
                self.components[one]["props"].get("elem_id"),
                self.components[one]["props"].get("value") if known is None or one in known else None,
            )
            for one in listener["inputs"]
        ]
        body = {"data": values, "fn_index": listener["id"], "session_hash": self.session, "event_data": data}
        return self.post("/gradio_api/run/predict", body)
