"""Names and descriptions of groups, encoded as the texts of a table are."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.exceptions import MissingExtraError
from askmeans.tables.recipe import Recipe
from askmeans.tables.texts import Text
from askmeans.tables.vectors import WORDLLAMA, Embed, Vectors, embed_column, wordllama

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

    Texts stand for pictures where an embedding takes both. Texts and pictures lie apart in such an
    embedding, so the mean of the texts is moved to that of the pictures.

    Parameters
    ----------
    recipe : Recipe
        How the items' features were made.
    texts : sequence of str
        Names or sentences.
    functions : mapping of str to function, or None, default=None
        The embedding of each column that has one. Without, only wordllama is known: a function of
        the user's own is never imported.

    Returns
    -------
    ndarray of shape (n_texts, n_features)
        NaN rows where no column takes texts, or none of their encoders knows a word.
    """
    nothing = np.full((len(texts), len(recipe.feature_names)), np.nan)
    try:
        import pandas as pd
    except ImportError:  # a session is open where no table can be read
        return nothing
    column = pd.Series(list(texts), dtype=object)
    values, known = {}, np.zeros(len(texts), dtype=bool)
    kinds = {column.name: column.kind for column in recipe.columns}
    for encoder in recipe.encoders:
        if isinstance(encoder, Text):
            values[encoder.column] = column
            known |= encoder.transform(column).any(axis=1)
        elif isinstance(encoder, Vectors) and encoder.embed is not None:
            embed, is_image = _known(encoder, functions or {}), kinds[encoder.column] == "image"
            if embed is not None and (not is_image or hasattr(embed, "texts")):
                vectors = embed_column(column, embed, encoder.embed)
                values[encoder.column] = encoder.among_pictures(vectors) if is_image else vectors
                known[:] = True
    if not values:
        return nothing
    return np.where(known[:, None], recipe.features(values), np.nan)


def _known(encoder: Vectors, functions: Mapping[str, Embed]) -> Embed | None:
    """The embedding of a column, as far as it is there."""
    if encoder.column in functions or encoder.embed != WORDLLAMA:
        return functions.get(encoder.column)
    try:
        return wordllama()
    except MissingExtraError:
        return None
