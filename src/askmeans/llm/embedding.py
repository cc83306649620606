"""Embeddings of texts by an OpenAI-compatible endpoint; each text is paid for once.

Vectors are kept in a file of the user's cache, by the endpoint, the model and a digest of the text.
"""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from askmeans._util.arrays import Single
from askmeans._util.progress import tracked
from askmeans.llm.client import ModelClient, model_client

OPENAI = "https://api.openai.com/v1"
_BATCH = 16  # texts of a request: 3,072 numbers of each are less than the limit of a reply
_LONGEST = 8000  # characters that are sent of a text: most models read 8,192 tokens at most


class TextEmbedding:
    """A function from texts to vectors; `text_embedding` makes one.

    Attributes
    ----------
    name : str
        What recipes call it: "openai:" and the model.
    tokens : int
        Tokens that were paid for so far.
    new : int
        Texts that were sent so far; the others were in the cache.
    """

    def __init__(self, client: ModelClient, cache: Path) -> None:
        self.name = f"openai:{client.name}"
        self.tokens = self.new = 0
        self._client, self._cache = client, cache

    def __call__(self, texts: list[str]) -> Single:
        """Return one row for each text."""
        keys = [self._key(text) for text in texts]
        self._cache.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._cache, timeout=30.0)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB)")
            lacking = dict.fromkeys(key for key in keys if _read(database, key) is None)
            new = [text for key, text in dict(zip(keys, texts, strict=True)).items()
                   if key in lacking]  # fmt: skip
            for start in tracked(range(0, len(new), _BATCH)):
                batch = new[start : start + _BATCH]
                vectors, tokens = self._client.embed([text[:_LONGEST] or " " for text in batch])
                matrix = np.asarray(vectors, dtype="<f4")
                self.tokens, self.new = self.tokens + tokens, self.new + len(batch)
                with database:  # what was paid for is kept, whatever happens to the rest
                    database.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                        [(self._key(text), row.tobytes())
                         for text, row in zip(batch, matrix, strict=True)],
                    )  # fmt: skip
            rows = [_read(database, key) for key in keys]
        return np.array([np.frombuffer(row or b"", dtype="<f4") for row in rows])

    def _key(self, text: str) -> bytes:
        """The key of a text in the cache."""
        words = "\0".join((self._client.url, self._client.name, text))
        return hashlib.blake2b(words.encode(), digest_size=16).digest()


def _read(database: sqlite3.Connection, key: bytes) -> bytes | None:
    """A vector of the cache."""
    row = database.execute("SELECT row FROM vectors WHERE key = ?", (key,)).fetchone()
    return None if row is None else bytes(row[0])


def text_embedding(
    model: str, *, url: str | None = None, cache: Path | None = None
) -> TextEmbedding:
    """Make an embedding of texts for `tables.read_items(embed=...)`.

    Parameters
    ----------
    model : str
        The model's name at the endpoint.
    url : str or None, default=None
        Address of an OpenAI-compatible endpoint; None for OPENAI_BASE_URL of the environment, or
        OpenAI. The key is in OPENAI_API_KEY.
    cache : Path or None, default=None
        File of the vectors; None for one in the user's cache folder.

    Returns
    -------
    TextEmbedding
        A function from a list of texts to an array.

    Examples
    --------
    >>> text_embedding("small", url="http://localhost:8000/v1").name
    'openai:small'
    """
    if cache is None:
        folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = Path(folder) / "askmeans" / "embeddings.db"
    url = url or os.environ.get("OPENAI_BASE_URL") or OPENAI
    return TextEmbedding(model_client(url, model), cache)
