"""The names of a session's groups.

Where items are compared, every result numbers the clusters anew: a name stays with an item, its
anchor, and is that of the cluster in which a result has this item.
"""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from scipy.optimize import linear_sum_assignment

from askmeans._util.arrays import Floats
from askmeans.exceptions import ParameterError
from askmeans.sessions.group_numbers import NO_SUCH_GROUP, RESERVED, taken_name, unique_names
from askmeans.sessions.learning import Learning
from askmeans.sessions.runtime import Runtime
from askmeans.spec import SIMILARITIES


class GroupNames:
    """The names of the groups of one session, now and before."""

    def __init__(self, runtime: Runtime, learning: Learning) -> None:
        self._runtime = runtime
        self._learning = learning

    def present(self, memberships: Floats | None = None) -> list[str]:
        """The names of the present groups, by these memberships or those of the last result."""
        names = self._known(self._memberships if memberships is None else memberships)
        return [names[number] for number in self._runtime.groups.living]

    def of_columns(self) -> list[str]:
        """What the groups without sub-groups are called: the columns of the policy."""
        called, groups = self._known(self._memberships), self._runtime.groups
        return [called[number] for number in groups.leaves]

    def by_number(self) -> list[str]:
        """The names of the groups by number; a merged one has the name of its group.

        A removed one keeps its name, unless another group has it now.
        """
        groups, names = self._runtime.groups, self._known(self._memberships)
        for number in range(groups.n):
            group = groups.resolve(number)
            if group is not None:
                names[number] = names[group]
            elif self.first(number) not in names:
                names[number] = self.first(number)
        return names

    def first(self, number: int) -> str:
        """The first name of a group; of a merged or removed one the last."""
        config, names = self._runtime.config, self._runtime.state.names
        if number in names and self._runtime.groups.resolve(number) != number:
            return names[number]
        known = dict(enumerate(config.cluster_names or ()))
        return unique_names(known, self._runtime.groups.n)[number]

    def find(self, group: Any) -> int | None:
        """The number of a group, by its number or its name; None where there is none."""
        with self._runtime.lock:
            groups = self._runtime.groups
            if isinstance(group, str):
                called = zip(self.present(), groups.living, strict=True)
                return dict(called).get(group)
            is_number = type(group) is not bool and isinstance(group, Integral)
            return groups.resolve(int(group)) if is_number else None

    def number(self, group: int | str) -> int:
        """The number of a group, as by `find`; a ParameterError for an unknown group."""
        number = self.find(group)
        if number is None:
            names = zip(self._runtime.groups.living, self.present(), strict=True)
            raise ParameterError(
                "The 'group' parameter must be one of the groups "
                f"{', '.join(f'{j} {name}' for j, name in names)}. Got {group!r:.60} instead.",
                user_message=NO_SUCH_GROUP,
            )
        return number

    def check_free(self, names: Iterable[str], method: str, group: int = -1) -> None:
        """Refuse names that occur twice, or that another group has than this one."""
        taken = self.taken(group)
        for name in names:
            if name in taken:
                raise ParameterError(
                    f"The 'name' parameter of Groups.{method} must be no other group's and not "
                    f"'id'. Got {name!r} instead.",
                    user_message=taken_name(name),
                )
            taken.add(name)

    def taken(self, cluster: int = -1) -> set[str]:
        """Names that a cluster may not have: those of others, now or in a later result."""
        living = zip(self._runtime.groups.living, self.present(), strict=True)
        names = {name for j, name in living if j != cluster}
        row = self.anchor(cluster)  # its name is the one that is replaced
        anchors = self._runtime.state.anchors
        return names | {RESERVED} | {anchors[r][1] for r in anchors if r != row}

    def anchor(self, cluster: int) -> int | None:
        """The row that a cluster's name belongs to; None if clusters keep their numbers.

        With similarities every result numbers the clusters again.
        """
        memberships = self._memberships
        if self._runtime.config.ask not in SIMILARITIES or memberships is None:
            return None
        there = _placed(list(self._runtime.state.anchors), memberships)
        # A name that the cluster has is replaced.
        return there.get(cluster, int(memberships[:, cluster].argmax()))

    @property
    def _memberships(self) -> Floats | None:
        """The memberships of the last result, if any."""
        last = self._learning.last_result
        return None if last is None else last.result.clustering.memberships

    def _known(self, memberships: Floats | None) -> list[str]:
        """Known names, all different; default ones for clusters without a name."""
        config, anchors = self._runtime.config, self._runtime.state.anchors
        named = dict(enumerate(config.cluster_names or ())) | self._runtime.state.names
        if memberships is None:
            named |= dict(anchors.values())
        else:
            placed = _placed(list(anchors), memberships)
            named |= {cluster: anchors[row][1] for cluster, row in placed.items()}
        groups = self._runtime.groups
        living = {j: name for j, name in named.items() if groups.resolve(j) == j}
        return unique_names(living, groups.n)


def _placed(rows: list[int], memberships: Floats) -> dict[int, int]:
    """Assign each row another cluster, with the largest sum of memberships."""
    places, clusters = linear_sum_assignment(memberships[rows], maximize=True)
    return {int(j): rows[i] for i, j in zip(places, clusters, strict=True)}
