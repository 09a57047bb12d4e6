"""Whether somebody has logged in where the app asks for a name and a password: our own addresses are not behind Gradio's door."""

import inspect
from typing import Any

from starlette.requests import Request


async def may_enter(request: Request) -> bool:
    """Whether nobody has to log in, or this visitor has; as Gradio sees it."""
    app: Any = request.app
    if app.auth_dependency is not None:
        user = app.auth_dependency(request)
        return (await user if inspect.isawaitable(user) else user) is not None
    if app.auth is None:
        return True
    names = (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}")
    token = next(filter(None, map(request.cookies.get, names)), None)
    return app.tokens.get(token) is not None
