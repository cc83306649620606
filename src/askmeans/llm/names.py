"""Names for groups, proposed by a language model; people accept or change them."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from askmeans._util.checks import check_name
from askmeans.exceptions import AnswerError, BudgetError, ParameterError
from askmeans.llm.cache import ModelCost, ReplyCache
from askmeans.llm.calls import Caller, Clock, Limits, Spent
from askmeans.llm.prompts import AGAIN, DATA, Messages, encoded, fields_of, labels
from askmeans.llm.tokens import about, most_written

__all__ = ["GroupSample", "NameProposal", "NameProposer", "propose_names", "typical_words"]

_NAME, _DESCRIPTION = 40, 200  # characters at most
_EXAMPLE = 300  # of a field of an example
_WRITTEN = 100  # tokens for each group at most: 240 characters are about 60
_USUAL = 40  # and as a rule
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSample:
    """What a group is like.

    Parameters
    ----------
    name : str
        What it is called now.
    examples : tuple of object
        Items of it, as people see them: texts, or mappings of names to values.
    words : tuple of str, default=()
        Words that are more frequent in it than elsewhere.

    Examples
    --------
    >>> GroupSample(name="Group A", examples=("a red apple",)).words
    ()
    """

    name: str
    examples: tuple[Any, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NameProposal:
    """A name that a group might have.

    Parameters
    ----------
    group : int
        The group's place among those passed.
    name : str
        At most 40 characters.
    description : str
        A line on what belongs there.

    Examples
    --------
    >>> NameProposal(group=0, name="Fruit", description="What grows on trees.").name
    'Fruit'
    """

    group: int
    name: str
    description: str


def propose_names(
    client: Callable[..., str],
    groups: Sequence[GroupSample],
    *,
    guidelines: str = "",
    clock: Clock | None = None,
) -> list[NameProposal]:
    """Ask a language model what groups might be called; nothing is renamed.

    Parameters
    ----------
    client : callable
        As for `ModelOracle`.
    groups : sequence of GroupSample
        What the groups are like.
    guidelines : str, default=""
        What they are for.
    clock : object or None, default=None
        As for `ModelOracle`.

    Returns
    -------
    list of NameProposal
        One for each group; all names are different.

    Raises
    ------
    AnswerError
        If the model writes what is no proposal, twice.

    Examples
    --------
    >>> def client(messages, **options):
    ...     return '{"A": {"name": "Fruit", "description": "What grows on trees."}}'
    >>> propose_names(client, [GroupSample(name="Group A", examples=("apple", "pear"))])[0].name
    'Fruit'
    """
    caller = Caller(client, ReplyCache(None), Limits(), clock)
    return NameProposer(caller, groups, guidelines).propose()


class NameProposer:
    """Asks for names of some groups: remembered, and within a budget."""

    def __init__(self, caller: Caller, groups: Sequence[GroupSample], guidelines: str) -> None:
        self._caller = caller
        self._groups = groups
        self._messages = _messages(groups, guidelines)
        self._options = {"temperature": 0.0, "max_tokens": _WRITTEN * (len(groups) + 1)}

    def forecast(self) -> ModelCost:
        """About what it will cost, without asking anything."""
        key = self._caller.key(self._messages, self._options, (0,))
        known, limits = self._caller.cache.get(key), self._caller.limits
        own = most_written(self._caller.sent({}))  # of a model that thinks first
        read, written = about(self._messages), own or _USUAL * (len(self._groups) + 1)
        if known is not None:
            read = written = 0
        return ModelCost(
            calls=int(known is None), remembered=int(known is not None), tokens_in=read,
            tokens_out=written, money=limits.money(read, written) if limits.prices else None,
        )  # fmt: skip

    def propose(self) -> list[NameProposal]:
        """What the model proposes.

        An AnswerError where it is no proposal, twice; a BudgetError where it may cost too much.
        """
        system, user = self._messages
        again = {**system, "content": f"{system['content']}\n\n{AGAIN}"}
        for messages in (self._messages, [again, user]):
            try:
                reply = self._caller(messages, self._options, (0,))
            except Spent as spent:
                raise BudgetError(
                    "The budget must allow a request for names. Got too little: "
                    f"{str(spent).replace('card', 'request')}; allow more."
                ) from spent
            try:
                return _proposals(reply, self._groups)
            except (AnswerError, ParameterError) as error:
                wrong = error
        raise AnswerError(f"The model must propose a name for each group. {wrong}") from wrong


def typical_words(texts: Sequence[str], groups: Sequence[int], n: int = 10) -> list[list[str]]:
    """Words that are more frequent in each group's texts than in the others'.

    Parameters
    ----------
    texts : sequence of str
        A text for each item.
    groups : sequence of int
        The group of each, from 0.
    n : int, default=10
        How many words at most for each group.

    Returns
    -------
    list of list of str
        The most typical first.

    Examples
    --------
    >>> typical_words(["red apple", "green apple", "red car"], [0, 0, 1], n=1)
    [['apple'], ['car']]
    """
    k = max(groups, default=-1) + 1
    counts: list[Counter[str]] = [Counter() for _ in range(k)]
    for text, group in zip(texts, groups, strict=True):
        counts[group].update(set(_WORD.findall(text.casefold())))  # once for each item
    sizes = Counter(groups)
    total = sum(counts, Counter())
    found = []
    for group, mine in enumerate(counts):
        others = max(len(texts) - sizes[group], 1)
        lift = {
            word: (count / sizes[group] - (total[word] - count) / others, word)
            for word, count in mine.items()
        }
        best = sorted(lift, key=lambda word: (-lift[word][0], word))
        found.append([word for word in best if lift[word][0] > 0.0][:n])
    return found


def _messages(groups: Sequence[GroupSample], guidelines: str) -> Messages:
    """The task, and the groups as data."""
    known = labels(len(groups))
    data = {
        label: {
            "name": group.name,
            "examples": [fields_of(each, _EXAMPLE)[0] for each in group.examples],
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
            f"{', '.join(known)}, different names N of at most {_NAME} characters, and "
            f"descriptions D of at most {_DESCRIPTION}.",
        ]
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": encoded(data)}]


def _proposals(text: str, groups: Sequence[GroupSample]) -> list[NameProposal]:
    """What the model proposes, checked."""
    known = labels(len(groups))
    try:
        told = json.loads(text.strip())
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"Got {text!r:.80}, which is no JSON.") from error
    if not isinstance(told, dict) or set(told) != set(known):
        raise AnswerError(f"Got {text!r:.80}, which is not about these groups.")
    found = []
    for place, label in enumerate(known):
        one = told[label]
        if not isinstance(one, dict) or set(one) != {"name", "description"}:
            raise AnswerError(f"Got {one!r:.80}, which is no name with a description.")
        name = check_name(one["name"], "name", "propose_names")
        description = " ".join(str(one["description"]).split())
        if len(name) > _NAME or len(description) > _DESCRIPTION or not description.isprintable():
            raise AnswerError(f"Got {name!r:.60}, which is too long, or cannot be printed.")
        found.append(NameProposal(group=place, name=name, description=description))
    if len({proposal.name.casefold() for proposal in found}) < len(found):
        raise AnswerError("Got the same name twice.")
    return found
