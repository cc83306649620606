"""The names and descriptions of groups as training examples, encoded by the items' recipe."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.policy.examples import Examples
from askmeans.sessions.group_numbers import GroupNumbers
from askmeans.tables.names import encode_names, sentences
from askmeans.tables.recipe import Recipe
from askmeans.tables.vectors import Embed


class NameExamples:
    """Training examples from names and descriptions of groups; each text is encoded once.

    Parameters
    ----------
    recipe : Recipe or None
        How the items' features were made; None if names are not used as examples.
    names : sequence of str
        Names of the first groups.
    encoded : mapping of str to sequence of float, or None
        Features of texts that were encoded when the session was created.
    functions : mapping of str to function, or None
        The embedding function of each column that has one.
    """

    def __init__(
        self,
        recipe: Recipe | None,
        names: Sequence[str] = (),
        *,
        encoded: Mapping[str, Sequence[float]] | None = None,
        functions: Mapping[str, Embed] | None = None,
    ) -> None:
        self._recipe, self._names = recipe, dict(enumerate(names))
        self._functions = functions
        self._rows: dict[str, Floats | None] = {
            text: np.array(row) for text, row in (encoded or {}).items()
        }
        self._last: tuple[list[tuple[str, int]], int, Examples | None] | None = None

    def examples(
        self,
        names: Mapping[int, str],
        descriptions: Mapping[int, str],
        groups: GroupNumbers,
    ) -> Examples | None:
        """The examples of the current groups without sub-groups; None if there are none.

        The name of a merged group is an example of the group it was merged into. The name of a
        sub-group that was removed is not used.
        """
        if self._recipe is None:
            return None
        all_names, pairs = self._names | dict(names), []
        columns = groups.leaves
        for number in range(groups.n):
            path, removed = groups.place(number)
            if path and path[-1] in columns and not removed and number not in groups.ended:
                texts = sentences(all_names.get(number, ""), descriptions.get(number, ""))
                pairs += [(text, columns.index(path[-1])) for text in texts]
        if self._last is None or self._last[:2] != (pairs, len(columns)):
            self._last = pairs, len(columns), self._make(pairs, len(columns))
        return self._last[2]

    def _make(self, pairs: list[tuple[str, int]], n_groups: int) -> Examples | None:
        """Examples from pairs of text and group; those of a group weigh as much as one answer."""
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
            for text, row in zip(
                new, encode_names(self._recipe, new, self._functions), strict=True
            ):
                self._rows[text] = None if np.isnan(row).any() else row
