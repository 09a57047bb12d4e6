"""AI assistants as clients: the endpoints as tools of the Model Context Protocol, which Gradio serves."""

import importlib.util

from explorer.api.gradio_seams import ask_no_hub
from explorer.core.errors import InputError

MCP = "mcp==1.30.0"


def prepare(with_password: bool) -> None:
    """Prepare to serve the tools. Raises InputError if they cannot be served."""
    if with_password:
        raise InputError("Assistants cannot log in: leave out --mcp or --auth, or let a proxy ask for the password.")
    if importlib.util.find_spec("mcp") is None:
        raise InputError(f'Assistants need mcp, which is not installed. Run pip install "{MCP}".')
    ask_no_hub()
