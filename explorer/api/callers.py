"""Who asks for what is computed now, and whether anybody still waits for it."""

from gradio.context import LocalContext


def caller() -> str:
    """The address of the program that asks, '' when it is this process itself."""
    request = LocalContext.request.get(None)
    return request.client.host if request is not None and request.client is not None else ""
