"""Names and descriptions of groups, encoded as the texts of a table are."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.exceptions import MissingExtraError
from askmeans.tables.recipe import Recipe
from askmeans.tables.texts import Text
from askmeans.tables.vectors import WORDLLAMA, Embed, Vectors, embed_column, wordllama

# Placeholder names without a meaning: "Group A", "cluster 3", "B", "12".
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:(?:group|cluster|class|category|label|topic|type)[\W_]*(?:[a-z]{1,2}|\d+)"
    r"|[a-z]|\d*)[\W_]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


def sentences(name: str, description: str = "") -> list[str]:
    """A group's name and each sentence of its description, without placeholder names.

    >>> sentences("refunds", "Money back. Returned parcels")
    ['refunds', 'Money back.', 'Returned parcels']
    >>> sentences("Group A"), sentences("cluster 3")
    ([], [])
    """
    texts = [name, *_SENTENCE.split(description)]
    return [text.strip() for text in texts if not _PLACEHOLDER.fullmatch(text)]


def encode_names(
    recipe: Recipe, texts: Sequence[str], functions: Mapping[str, Embed] | None = None
) -> Floats:
    """The features of rows with these texts in every text column, and all other columns missing.

    If an embedding takes both texts and pictures, texts are also encoded in place of pictures. The
    two are far apart in such an embedding, so the mean of the texts is moved to that of the
    pictures.

    Parameters
    ----------
    recipe : Recipe
        How the items' features were made.
    texts : sequence of str
        Names or sentences.
    functions : mapping of str to function, or None, default=None
        The embedding of each column that has one. With None only wordllama is used: a function of
        the user's own cannot be imported by its name.

    Returns
    -------
    ndarray of shape (n_texts, n_features)
        NaN rows where no column takes texts, or no encoder has a word of the text.
    """
    missing = np.full((len(texts), len(recipe.feature_names)), np.nan)
    try:
        import pandas as pd
    except ImportError:  # sessions open without pandas, which only reading tables needs
        return missing
    column = pd.Series(list(texts), dtype=object)
    values, is_encoded = {}, np.zeros(len(texts), dtype=bool)
    kinds = {column.name: column.kind for column in recipe.columns}
    for encoder in recipe.encoders:
        if isinstance(encoder, Text):
            values[encoder.column] = column
            is_encoded |= encoder.transform(column).any(axis=1)
        elif isinstance(encoder, Vectors) and encoder.embed is not None:
            embed, is_image = _embedding(encoder, functions or {}), kinds[encoder.column] == "image"
            if embed is not None and (not is_image or hasattr(embed, "texts")):
                vectors = embed_column(column, embed, encoder.embed)
                values[encoder.column] = encoder.moved_to_mean(vectors) if is_image else vectors
                is_encoded[:] = True
    if not values:
        return missing
    return np.where(is_encoded[:, None], recipe.features(values), np.nan)


def _embedding(encoder: Vectors, functions: Mapping[str, Embed]) -> Embed | None:
    """The embedding of a column; None where it is not given or not installed."""
    if encoder.column in functions or encoder.embed != WORDLLAMA:
        return functions.get(encoder.column)
    try:
        return wordllama()
    except MissingExtraError:
        return None
