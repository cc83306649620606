"""The names and descriptions of a session's groups as examples, by the recipe of its items."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.examples import Examples
from askmeans.sessions.group_numbers import GroupNumbers
from askmeans.tables.names import encode_names, sentences
from askmeans.tables.recipe import Recipe


class NameExamples:
    """What names and descriptions say of groups; each text is encoded once.

    Parameters
    ----------
    recipe : Recipe or None
        How the items' features were made; None where names are no examples.
    names : sequence of str
        What the first groups are called.
    """

    def __init__(self, recipe: Recipe | None, names: Sequence[str] = ()) -> None:
        self._recipe, self._names = recipe, dict(enumerate(names))
        self._rows: dict[str, NDArray[np.float64] | None] = {}
        self._last: tuple[list[tuple[str, int]], int, Examples | None] = [], 0, None

    def of(
        self, names: Mapping[int, str], descriptions: Mapping[int, str], groups: GroupNumbers
    ) -> Examples | None:
        """The examples of the groups of now; None where no text says anything.

        What a merged group was called is an example of the group that it is part of.
        """
        if self._recipe is None:
            return None
        named, pairs = self._names | dict(names), []
        for number in range(groups.n):
            group = groups.column(number)
            if group is not None:
                texts = sentences(named.get(number, ""), descriptions.get(number, ""))
                pairs += [(text, group) for text in texts]
        n_groups = len(groups.living)
        if self._last[:2] != (pairs, n_groups):
            self._last = pairs, n_groups, self._made(pairs, n_groups)
        return self._last[2]

    def _made(self, pairs: list[tuple[str, int]], n_groups: int) -> Examples | None:
        """The examples of texts and their groups; those of a group count as one answer."""
        self._encode(text for text, _ in pairs)
        rows = [(row, group) for text, group in pairs if (row := self._rows[text]) is not None]
        if not rows:
            return None
        X, numbers = zip(*rows, strict=True)
        Y = np.eye(n_groups)[list(numbers)]
        return Examples(X=np.array(X), Y=Y, weight=1.0 / (Y @ Y.sum(axis=0)))

    def _encode(self, texts: Iterable[str]) -> None:
        """Encode texts that are new."""
        assert self._recipe is not None
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            for text, row in zip(new, encode_names(self._recipe, new), strict=True):
                self._rows[text] = None if np.isnan(row).any() else row
