"""Complete Gradio's page: our styles and scripts, in place before the first layout, and our own preview card."""

import re
from dataclasses import dataclass
from html import escape

from starlette.datastructures import Headers
from starlette.types import Scope

ABOUT_GRADIO = re.compile(rb'(?<!\s)\s*<meta\s+(?:property="og:|name="twitter:)[^>]*>')


@dataclass(frozen=True)
class Document:
    """What is added to the end of the page's head and of its body. (Gradio adds a head by script, after a first layout.)"""

    head: str
    tail: str = ""
    card: str = ""  # the path of the image that other sites show in a preview

    def complete(self, page: bytes, address: str = "") -> bytes:
        """The page with our additions, without Gradio's preview tags; `address` is the app's own and ends with a slash."""
        head, _, body = page.partition(b"</head>")
        before, _, after = body.rpartition(b"</body>")
        head = ABOUT_GRADIO.sub(b"", head)
        card = f'<meta property="og:image" content="{escape(address + self.card)}">' if self.card else ""
        return b"".join([head, card.encode(), self.head.encode(), b"</head>", before, self.tail.encode(), b"</body>", after])


def address_of(scope: Scope) -> str:
    """The app's address in this request, ending with a slash; "" without a Host header. Do not trust it: the client sends it."""
    headers = Headers(scope=scope)
    host, scheme = headers.get("host", ""), headers.get("x-forwarded-proto", scope["scheme"])
    return f"{'https' if scheme == 'https' else 'http'}://{host}{scope.get('root_path', '')}/" if host else ""
