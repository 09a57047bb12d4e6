"""Gradio's page with what is ours: styles and scripts before the first layout, and what it says of itself to other sites."""

import re
from dataclasses import dataclass
from html import escape

from starlette.datastructures import Headers
from starlette.types import Scope

ABOUT_GRADIO = re.compile(rb'\s*<meta\s+(?:property="og:|name="twitter:)[^>]*>')


@dataclass(frozen=True)
class Document:
    """What stands at the ends of the page's head and body. (Gradio would add a head by script, after a first layout.)"""

    head: str
    tail: str = ""
    card: str = ""  # the path of the picture that other sites show of it

    def complete(self, page: bytes, address: str = "") -> bytes:
        """The page at an address, which ends with a slash, with it, and without what Gradio says of itself."""
        head, _, body = page.partition(b"</head>")
        before, _, after = body.rpartition(b"</body>")
        head = ABOUT_GRADIO.sub(b"", head)
        card = f'<meta property="og:image" content="{escape(address + self.card)}">' if self.card else ""
        return b"".join([head, card.encode(), self.head.encode(), b"</head>", before, self.tail.encode(), b"</body>", after])


def address_of(scope: Scope) -> str:
    """Where the app was asked for, with a slash at its end; "" where that is not told. Anybody may say anything in it."""
    headers = Headers(scope=scope)
    host, scheme = headers.get("host", ""), headers.get("x-forwarded-proto", scope["scheme"])
    return f"{'https' if scheme == 'https' else 'http'}://{host}{scope.get('root_path', '')}/" if host else ""
