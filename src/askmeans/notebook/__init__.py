"""The page's card in a notebook: Jupyter, VS Code and Colab."""

from askmeans.exceptions import MissingExtraError

try:
    import anywidget  # noqa: F401  # only to say clearly what is missing
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"Cards in a notebook need {error.name}, which is not installed. "
        'Install it with pip install "askmeans[notebook]".'
    ) from error

from askmeans.notebook.widget import AskWidget, ask

__all__ = ["AskWidget", "ask"]
