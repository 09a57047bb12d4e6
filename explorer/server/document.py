"""Gradio's page with what is ours: styles and scripts before the first layout, and what it says of itself to other sites."""

import re
from dataclasses import dataclass

ABOUT_GRADIO = re.compile(rb'\s*<meta\s+(?:property="og:|name="twitter:)[^>]*>')


@dataclass(frozen=True)
class Document:
    """What stands at the ends of the page's head and body. (Gradio would add a head by script, after a first layout.)"""

    head: str
    tail: str = ""

    def complete(self, page: bytes) -> bytes:
        """The page with it, and without what Gradio says of itself."""
        head, _, body = page.partition(b"</head>")
        before, _, after = body.rpartition(b"</body>")
        head = ABOUT_GRADIO.sub(b"", head)
        return b"".join([head, self.head.encode(), b"</head>", before, self.tail.encode(), b"</body>", after])
