"""Group names proposed by a language model, for people to accept or change."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from askmeans._util.checks import check_name
from askmeans.exceptions import AnswerError, BudgetError, ParameterError
from askmeans.llm.cost import (
    BudgetSpentError,
    CachedClient,
    Limits,
    ModelCost,
    ReplyCache,
    estimated_tokens,
    largest_reply,
)
from askmeans.llm.prompts import DATA, RETRY, Messages, encoded, fields_of, labels

_MAX_NAME, _MAX_DESCRIPTION = 40, 200  # characters: a name fits on a button, the rest in a line
_MAX_EXAMPLE = 300  # characters of a field of an example
_MAX_REPLY = 100  # tokens per group: 240 characters are about 60
_USUAL_REPLY = 40  # tokens per group
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSample:
    """A group's name, examples and typical words.

    Parameters
    ----------
    name : str
        Its current name.
    examples : tuple of object
        Some of its items: texts, or mappings of names to values.
    words : tuple of str, default=()
        Words that are more frequent in it than in other groups.
    """

    name: str
    examples: tuple[Any, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NameProposal:
    """A proposed name and description of a group, which has an index among those passed."""

    group: int
    name: str
    description: str


def propose_names(
    client: Callable[..., str],
    groups: Sequence[GroupSample],
    *,
    guidelines: str = "",
) -> list[NameProposal]:
    """Ask a language model for names of groups; nothing is renamed.

    Parameters
    ----------
    client : callable
        As for `ModelOracle`.
    groups : sequence of GroupSample
        The groups.
    guidelines : str, default=""
        Their purpose.

    Returns
    -------
    list of NameProposal
        One for each group; all names are different.

    Raises
    ------
    AnswerError
        If two replies in a row are no valid proposals.

    Examples
    --------
    >>> def client(messages, **options):
    ...     return '{"A": {"name": "Fruit", "description": "What grows on trees."}}'
    >>> propose_names(client, [GroupSample(name="Group A", examples=("apple", "pear"))])[0].name
    'Fruit'
    """
    cached = CachedClient(client, ReplyCache(None), Limits())
    return NameProposer(cached, groups, guidelines).propose()


class NameProposer:
    """Asks for names of groups, with a cache and a budget."""

    def __init__(
        self, client: CachedClient, groups: Sequence[GroupSample], guidelines: str
    ) -> None:
        self._client = client
        self._groups = groups
        self._messages = _messages(groups, guidelines)
        self._options = {"temperature": 0.0, "max_tokens": _MAX_REPLY * (len(groups) + 1)}

    def forecast(self) -> ModelCost:
        """Forecast the cost without a request."""
        client = self._client
        if client.cache.get(client.key(self._messages, self._options, (0,))) is not None:
            return client.limits.priced(ModelCost(remembered=1))
        limit = largest_reply(client.sent({}))  # of a reasoning model
        return client.limits.priced(
            ModelCost(
                calls=1,
                tokens_in=estimated_tokens(self._messages),
                tokens_out=limit or _USUAL_REPLY * (len(self._groups) + 1),
            )
        )

    def propose(self) -> list[NameProposal]:
        """Return the model's proposals.

        An AnswerError after two invalid replies; a BudgetError where it may cost too much.
        """
        system, user = self._messages
        retry = [{**system, "content": f"{system['content']}\n\n{RETRY}"}, user]
        for messages in (self._messages, retry):
            try:
                reply = self._client(messages, self._options, (0,))
            except BudgetSpentError as error:
                raise BudgetError(
                    f"The budget must allow a request for names. Got too little: {error}; allow "
                    "more."
                ) from error
            try:
                return _proposals(reply, self._groups)
            except (AnswerError, ParameterError) as error:
                cause = error
        raise AnswerError(f"The model must propose a name for each group. {cause}") from cause


def typical_words(texts: Sequence[str], groups: Sequence[int], n: int = 10) -> list[list[str]]:
    """At most `n` words that are more frequent in each group's texts than in the others'.

    >>> typical_words(["red apple", "green apple", "red car"], [0, 0, 1], n=1)
    [['apple'], ['car']]
    """
    k = max(groups, default=-1) + 1
    counts: list[Counter[str]] = [Counter() for _ in range(k)]
    for text, group in zip(texts, groups, strict=True):
        counts[group].update(set(_WORD.findall(text.casefold())))  # once for each item
    sizes = Counter(groups)
    total = sum(counts, Counter())
    typical = []
    for group, in_group in enumerate(counts):
        others = max(len(texts) - sizes[group], 1)
        lift = {
            word: count / sizes[group] - (total[word] - count) / others
            for word, count in in_group.items()
        }
        words = sorted(lift, key=lambda word: (-lift[word], word))
        typical.append([word for word in words if lift[word] > 0.0][:n])
    return typical


def _messages(groups: Sequence[GroupSample], guidelines: str) -> Messages:
    """Write the task, and the groups as data."""
    known = labels(len(groups))
    data = {
        label: {
            "name": group.name,
            "examples": [fields_of(each, _MAX_EXAMPLE)[0] for each in group.examples],
            "words": list(group.words),
        }
        for label, group in zip(known, groups, strict=True)
    }
    form = '{L: {"name": N, "description": D}, ...}'
    system = "\n\n".join(
        [
            "Propose a name and a description in one line for each group of items, which tell "
            "what its items have in common that those of the others have not.",
            DATA,
            f"Guidelines:\n{guidelines.strip()}",
            f"Answer with one JSON object and nothing else: {form} with each L of "
            f"{', '.join(known)}, different names N of at most {_MAX_NAME} characters, and "
            f"descriptions D of at most {_MAX_DESCRIPTION}.",
        ]
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": encoded(data)}]


def _proposals(text: str, groups: Sequence[GroupSample]) -> list[NameProposal]:
    """Parse and check a reply."""
    known = labels(len(groups))
    try:
        reply = json.loads(text.strip())
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"{text!r:.80} is not JSON.") from error
    if not isinstance(reply, dict) or set(reply) != set(known):
        raise AnswerError(f"{text!r:.80} does not name these groups.")
    proposals = []
    for index, label in enumerate(known):
        entry = reply[label]
        if not isinstance(entry, dict) or set(entry) != {"name", "description"}:
            raise AnswerError(f"{entry!r:.80} is not a name with a description.")
        name = check_name(entry["name"], "name", "propose_names")
        description = " ".join(str(entry["description"]).split())
        too_long = len(name) > _MAX_NAME or len(description) > _MAX_DESCRIPTION
        if too_long or not description.isprintable():
            raise AnswerError(f"{name!r:.60} is too long or not printable.")
        proposals.append(NameProposal(group=index, name=name, description=description))
    if len({proposal.name.casefold() for proposal in proposals}) < len(proposals):
        raise AnswerError("Two groups have the same name.")
    return proposals
