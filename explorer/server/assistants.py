"""AI assistants as clients: the endpoints as tools of the Model Context Protocol, which Gradio serves."""

import importlib.util
import os

from explorer.api.gradio_seams import ask_no_hub
from explorer.core.errors import InputError

MCP = "mcp==1.30.0"
SETTING = "BERT_EXPLORER_MCP"
ON, OFF = ("1", "true", "yes"), ("", "0", "false", "no")


def wanted(given: bool, with_password: bool) -> bool:
    """Whether to serve the tools, by the flag or the environment. Raises InputError if they cannot be served."""
    setting = os.environ.get(SETTING, "").strip().lower()
    if setting not in (*ON, *OFF):
        raise InputError(f"{SETTING} must be 1 or 0; set it to one of them, or leave it out.")
    if not (given or setting in ON):
        return False
    if with_password:
        raise InputError("Assistants cannot log in: leave out --mcp or --auth, or let a proxy ask for the password.")
    if importlib.util.find_spec("mcp") is None:
        raise InputError(f'Assistants need mcp, which is not installed; run pip install "{MCP}".')
    ask_no_hub()
    return True
