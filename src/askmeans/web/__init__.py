"""The page: people answer a session's questions in a browser, and see the clusters take shape."""

from askmeans.exceptions import MissingExtraError

try:
    import babel  # noqa: F401  # only to say clearly what is missing
    import fastapi  # noqa: F401
    import jinja2  # noqa: F401
    import markdown_it  # noqa: F401
    import uvicorn  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"The page needs {error.name}, which is not installed. "
        'Install it with pip install "askmeans[serve]".'
    ) from error

from askmeans.web.app import create_app
from askmeans.web.runner import Access, serve

__all__ = ["Access", "create_app", "serve"]
