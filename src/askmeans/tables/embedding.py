"""Embeddings through a library the user has: a name, `package.module:function`, or a function."""

import importlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from askmeans.exceptions import MissingExtraError, ParameterError

__all__ = ["Embed", "embedding"]

Embed = Callable[[list[Any]], Any]


def embedding(embed: Any) -> tuple[Embed, str]:
    """A function from a list of texts (or paths of images) to an array, and what it is called."""
    if callable(embed):
        name = f"{getattr(embed, '__module__', '')}:{getattr(embed, '__qualname__', 'function')}"
        return embed, name
    if embed == "wordllama":
        return _wordllama(), "wordllama"
    module, _, function = str(embed).partition(":")
    if not module or not function:
        raise ParameterError(
            "The 'embed' parameter must be a function, 'wordllama', or 'package.module:function'. "
            f"Got {embed!r:.60} instead."
        )
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ParameterError(
            f"The 'embed' parameter must name a function that can be imported. Got '{error}'; "
            "install its package, or put its file where Python looks (PYTHONPATH=.)."
        ) from error
    return found, str(embed)


def _wordllama() -> Embed:
    """Sentence embeddings whose weights are in the package: nothing is downloaded."""
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    try:
        import wordllama
    except ImportError as error:
        raise MissingExtraError(
            "Embedding by wordllama needs the package. Got none; install it with: "
            'pip install "askmeans[text]"'
        ) from error
    # Its own search misses the tokenizer that its wheel carries; as a cache the folder is right.
    model = wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    root.setLevel(before[0])  # it has every library's log printed
    root.handlers[:] = before[1]

    def embed(texts: Sequence[Any]) -> Any:
        return model.embed([str(text) for text in texts])

    return embed
