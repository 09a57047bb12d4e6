"""The page in pieces: what is sent when it opens, and what follows when a tab or a choice is opened for the first time.

The server knows all components and listeners from the start. The browser is sent only what it shows: every component
costs it time, when the page opens and at every event. A piece is the content of one container, without the pieces
inside it. It is sent as Gradio sends what `gr.render` makes (a `render_config`), with its values filled in.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any

Config = dict[str, Any]


OPENS: ContextVar[bool] = ContextVar("OPENS", default=False)  # whether a request opens the page, and needs only its first pieces


class Pieces:
    """The page's configuration, cut at some containers. Components and containers are named by their Gradio ids."""

    def __init__(self, config: Config, containers: Collection[int]) -> None:
        self.config = config
        self.containers = frozenset(containers)
        self.outer: dict[int, int | None] = {}  # component → the innermost container around it
        self._places: dict[int, Mapping[str, Any]] = {}  # container → its part of the layout
        # States kept in the browser must be read before a tab that depends on them opens.
        self._kept = {component["id"] for component in config["components"] if component["type"] == "browserstate"}
        self._walk(config["layout"], None)
        self.inner = frozenset(number for number in self.containers if self.outer.get(number) is not None)  # those of choices
        read = {number for listener in config["dependencies"] for number in listener["inputs"]}
        changed = {number for listener in config["dependencies"] for number in listener["outputs"]}
        self._components = {component["id"]: _settle(component, read, changed) for component in config["components"]}

    def _walk(self, place: Mapping[str, Any], outer: int | None) -> None:
        for child in place.get("children", ()):
            number = child["id"]
            self.outer[number] = None if number in self._kept else outer
            if number in self.containers:
                self._places[number] = child
            self._walk(child, number if number in self.containers else outer)

    def around(self, number: int) -> Iterator[int]:
        outer = self.outer.get(number)
        while outer is not None:
            yield outer
            outer = self.outer.get(outer)

    def is_there(self, number: int, built: Collection[int]) -> bool:
        """Whether a browser with the pieces `built` has the component."""
        return all(container in built for container in self.around(number))

    def page(self, built: Collection[int], without: Collection[str] = ()) -> Config:
        """The configuration a page opens with: everything outside the pieces, and those in `built`, but no type in `without`."""
        there = [
            one
            for number, one in self._components.items()
            if one["type"] not in without and (number not in self.outer or self.is_there(number, built))
        ]
        numbers = {component["id"] for component in there}
        listeners = self._listeners((numbers | {self.config["layout"]["id"]}).__contains__)
        layout = _cut(self.config["layout"], numbers - self._kept, self.containers - set(built))
        layout["children"] += [{"id": number} for number in sorted(self._kept)]
        entry = {"layout": layout, "components": sorted(numbers), "dependencies": [listener["id"] for listener in listeners]}
        changed = {"components": there, "dependencies": listeners, "layout": layout, "page": {"": entry}}
        return {**self.config, **changed}

    def delivery(self, pieces: Sequence[int], props: Mapping[int, Mapping[str, Any]], built: Collection[int]) -> Config:
        """What the browser is sent to build `pieces`, outermost first; `props` override the components' own."""
        outermost, new = pieces[0], set(pieces)
        after = {*built, *new}
        numbers = {number for number, outer in self.outer.items() if outer in new and self.is_there(number, after)}
        components = [self._components[number] for number in (outermost, *sorted(numbers))]
        props = {**props, outermost: {"visible": True}}  # Gradio sets the container's props too
        return {
            "render_id": outermost,
            "layout": _cut(self._places[outermost], numbers, self.containers - after),
            "components": [
                {**component, "props": {**component["props"], **props.get(component["id"], {})}} for component in components
            ],
            "dependencies": self._listeners(numbers.__contains__),
        }

    def _listeners(self, is_there: Any) -> list[Config]:
        """The listeners to components that are there, and the listeners chained to them.

        A listener to several pieces comes with each of them. A listener to the page itself comes with the first of its other
        components, if it has any: the browser then runs it as if the page had just been opened.
        """
        wanted = {number for number, targets in self._targets.items() if any(map(is_there, targets))}
        for listener in self.config["dependencies"]:  # in creation order: a chained listener comes later
            if listener["trigger_after"] in wanted:
                wanted.add(listener["id"])
        return [listener for listener in self.config["dependencies"] if listener["id"] in wanted]

    @cached_property
    def _targets(self) -> dict[int, list[int]]:
        root = self.config["layout"]["id"]
        targets = {}
        for listener in self.config["dependencies"]:
            numbers = [number for number, _ in listener["targets"] if number is not None]
            targets[listener["id"]] = [number for number in numbers if number != root] or numbers
        return targets


def _cut(place: Mapping[str, Any], there: Collection[int], closed: Collection[int]) -> dict[str, Any]:
    """A part of the layout with only the components in `there`; containers in `closed` are emptied."""
    if "children" not in place:
        return dict(place)
    inside = () if place["id"] in closed else place["children"]
    return {**place, "children": [_cut(child, there, closed) for child in inside if child["id"] in there]}


def _settle(component: Config, read: Collection[int], changed: Collection[int]) -> Config:
    """The component with `interactive` stated: the browser would decide it by the listeners it knows, which are not all."""
    props = component["props"]
    if props.get("interactive") is not None or (component["id"] not in read and component["id"] not in changed):
        return component
    interactive = component["id"] in read or (component["id"] not in changed and not props.get("value"))
    return {**component, "props": {**props, "interactive": interactive}}
