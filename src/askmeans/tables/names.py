"""Names and descriptions of groups, encoded as the texts of a table are."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.tables.encoders import Encoder
from askmeans.tables.recipe import Recipe
from askmeans.tables.texts import Text
from askmeans.tables.vectors import Embed, Vectors, embed_column, embedding_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["encode_names", "sentences"]

Floats = NDArray[np.float64]

# Names that say nothing: "Group A", "cluster 3", "B", "12".
_NUMBERED = re.compile(
    r"[\W_]*(?:(?:group|cluster|class|category|label|topic|type)[\W_]*(?:[a-z]{1,2}|\d+)"
    r"|[a-z]|\d*)[\W_]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


def sentences(name: str, description: str = "") -> list[str]:
    """A group's name and each sentence of its description, without names that say nothing.

    >>> sentences("refunds", "Money back. Returned parcels")
    ['refunds', 'Money back.', 'Returned parcels']
    >>> sentences("Group A"), sentences("cluster 3")
    ([], [])
    """
    texts = [name, *_SENTENCE.split(description)]
    return [text.strip() for text in texts if not _NUMBERED.fullmatch(text)]


def encode_names(
    recipe: Recipe, texts: Sequence[str], functions: Mapping[str, Embed] | None = None
) -> Floats:
    """The features of texts as if these stood in every text column, and the others were empty.

    Parameters
    ----------
    recipe : Recipe
        How the items' features were made.
    texts : sequence of str
        Names or sentences.
    functions : mapping of str to function, or None, default=None
        The embedding of each column that has one. Embeddings that askmeans knows by name are found
        without; a function of the user's own is never imported.

    Returns
    -------
    ndarray of shape (n_texts, n_features)
        NaN rows where no column takes texts, or none of their encoders knows a word.
    """
    import pandas as pd

    values: dict[str, Any] = {}
    known = np.zeros(len(texts), dtype=bool)
    column = pd.Series(list(texts), dtype=object)
    for encoder in recipe.encoders:
        encoded = _encoded(encoder, column, functions or {})
        if encoded is None:
            values[encoder.column] = _missing(encoder, len(texts))
            continue
        values[encoder.column], knows = encoded
        known |= knows
    return np.where(known[:, None], recipe.features(values), np.nan)


def _encoded(
    encoder: Encoder, column: "pd.Series[Any]", functions: Mapping[str, Embed]
) -> tuple[Any, NDArray[np.bool_]] | None:
    """What a column has for these texts, and which it knows; None where it takes no texts."""
    if isinstance(encoder, Text):
        return column, np.asarray(encoder.transform(column).any(axis=1))
    if not isinstance(encoder, Vectors) or encoder.embed is None:
        return None
    function = functions.get(encoder.column) or embedding_of(encoder.embed)
    if function is None:
        return None
    return embed_column(column, function, encoder.embed), np.ones(len(column), dtype=bool)


def _missing(encoder: Encoder, n: int) -> Any:
    """So many missing values of a column."""
    import pandas as pd

    if isinstance(encoder, Vectors):
        return np.full((n, encoder.mean["shape"][0]), np.nan, dtype=np.float32)
    return pd.Series(np.full(n, np.nan), name=encoder.column)
