"""A page as a program reads it."""

import base64
import json
import zlib
from html.parser import HTMLParser


class Reader(HTMLParser):
    """Collects the tags of a page, and what stands in its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts, self._open = [], [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag == "script":
            self._open = dict(attributes).get("id", "")

    def handle_endtag(self, tag):
        self._open = None if tag == "script" else self._open

    def handle_data(self, data):
        if self._open is not None:
            self.scripts[self._open] = self.scripts.get(self._open, "") + data

    @property
    def data(self):
        """The data of the page, which are compressed in it."""
        return json.loads(zlib.decompress(base64.b64decode(self.scripts["bx-data"])))
