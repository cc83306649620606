"""What the groups of a session are like, for whoever proposes names."""

from collections.abc import Sequence

import numpy as np

from askmeans.oracles.model_names import GroupSample, typical_words
from askmeans.sessions.display import Item
from askmeans.sessions.reports import Group
from askmeans.sessions.session import Session

__all__ = ["group_samples", "shown_item"]

_EXAMPLES = 5
_READ = 2000  # items whose words are counted
_SURE = 0.5  # of a membership, from which on an item speaks for a group


def group_samples(session: Session, groups: Sequence[Group]) -> list[GroupSample]:
    """For each of these groups its name, typical items, and typical words of their texts."""
    U = session.result().memberships
    rows = np.flatnonzero(U.max(axis=1) > _SURE)[:_READ]
    texts = [_words(session.item(int(row))) for row in rows]
    # Somebody may be in no group: each has words of its own, or none.
    words = typical_words(texts, U[rows].argmax(axis=1).tolist())
    words += [[] for _ in range(len(groups) - len(words))]
    return [
        GroupSample(
            name=group.name,
            examples=tuple(
                shown_item(session.item(row))
                for row in session.exemplars(group.number, n=_EXAMPLES)
            ),
            words=tuple(typical),
        )
        for group, typical in zip(groups, words, strict=False)
    ]


def shown_item(item: Item) -> dict[str, object]:
    """What people see of an item, but for its id and picture."""
    text = {} if item.text is None else {"text": item.text}
    return {**text, **item.fields}


def _words(item: Item) -> str:
    """The texts of an item."""
    fields = [value for value in item.fields.values() if isinstance(value, str)]
    return " ".join([item.text or "", *fields])
