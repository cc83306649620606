"""A panel: language models answer ahead, people are asked what matters, and who is right is told.

A model's answers are in the log, neither asked nor counted. The policy weighs them by how they
agree with people's (`askmeans.policy.panel`). A share of people's questions is about random items:
these tell honestly how often a model is wrong.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from askmeans.checks import check_name
from askmeans.exceptions import AnswerError, ParameterError, SessionError
from askmeans.policy.panel import audit_order
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import MODEL
from askmeans.sessions.gold import GoldAnswers
from askmeans.sessions.log import EventKind
from askmeans.sessions.panel_report import (
    PanelReport,
    doubtful,
    moved,
    score_of,
    would_change,
)
from askmeans.sessions.runtime import AUDIT_SHARE
from askmeans.shares import Row

__all__ = ["PanelAnswers"]

_IN_AN_EVENT = 50  # items that one event of the log is about


class PanelAnswers(GoldAnswers):
    """The part of `Session` that is about language models."""

    def add_model_answers(self, model: str, answers: Mapping[int, Any]) -> int:
        """Take in what a language model says of items: it costs nothing, and people are asked on.

        Parameters
        ----------
        model : str
            The model's name.
        answers : mapping of int to object
            For each row what `tell` takes for a group question; None for "cannot say". What the
            model said of a row before is replaced.

        Returns
        -------
        int
            How many there were.

        Raises
        ------
        SessionError
            If the session asks for similarities, or a plan of the paper asks.
        AnswerError, ParameterError
            If one is no answer, or about no item; then none is taken in.

        Examples
        --------
        >>> import askmeans.sessions
        >>> session = askmeans.sessions.create("pets.db", [[1.0], [2.0], [8.0], [9.0]],
        ...     n_clusters=2, cluster_names=["cats", "dogs"], random_state=0)
        >>> session.add_model_answers("small", {0: "cats", 1: "cats", 2: None, 3: {"dogs": 0.9}})
        4
        >>> session.status().answered
        0
        """
        owner = "Session.add_model_answers"
        name = check_name(MODEL + check_name(model, "model", owner), "model", owner)
        self._check_panel()
        with self._runtime.up_to_date():
            groups, names = self._runtime.groups, self._results.cluster_names()
        told: list[tuple[int, Row | None]] = []
        for row, value in answers.items():
            if not 0 <= row < len(self.rows):
                raise ParameterError(
                    "The 'answers' parameter of Session.add_model_answers must be about rows below "
                    f"{len(self.rows)}. Got {row!r:.40} instead."
                )
            shares = None if value is None else groups.told_row(value, names)
            if shares is not None and any(map(math.isnan, shares)):
                raise AnswerError(f"A row must be whole, or None. Got {value!r:.60} instead.")
            told.append((int(row), None if shares is None else groups.row_by_number(shares)))
        for start in range(0, len(told), _IN_AN_EVENT):
            text = json.dumps(told[start : start + _IN_AN_EVENT])
            self._log(EventKind.MODEL, name, text=text)
        return len(told)

    def model_answers(self) -> dict[str, dict[int, Row | None]]:
        """What language models said, by the groups of now.

        Returns
        -------
        dict of str to dict of int to tuple of float or None
            By model and row: a share for each group; None for "cannot say".

        Examples
        --------
        >>> open("fruit.db").model_answers()
        {}
        """
        with self._runtime.up_to_date() as state:
            groups = self._runtime.groups
            return {
                name.removeprefix(MODEL): {
                    row: None if shares is None else groups.row_now(shares)
                    for row, shares in said.items()
                }
                for name, said in state.models.items()
            }

    def panel(self) -> PanelReport:
        """How much rests on whom, how often each model is wrong, and what people would change.

        Returns
        -------
        PanelReport
            People, models, and the items to check.

        Examples
        --------
        >>> report = open("fruit.db").panel()
        >>> report.items, report.people
        (4, 0)
        """
        policy = self._runtime.catch_up()
        with self._runtime.lock:
            said = dict(self._runtime.state.models)
            share = float(self._runtime.state.options.get(AUDIT_SHARE, 0.0))
        n, result = len(self.rows), self._results.result(self._assignment.state_for(None))
        if not isinstance(policy, StratifiedPolicy) or not said:
            return PanelReport(
                items=n, people=result.n_queries, models={}, decided_by_models=0.0,
                would_change=would_change(result.clustering.diagnostics.estimated_error, result),
                to_check=(), audit_share=share, notes=(),
            )  # fmt: skip
        belief = policy.belief()
        U, names = result.memberships, list(result.cluster_names)
        order = audit_order(n, policy.settings.seed)
        weighed = {model.answers.name: model for model in belief.panel.models}
        scores = {
            name.removeprefix(MODEL): score_of(
                weighed.get(name), said[name], belief, order, names,
                moved(U, policy.memberships_without({name})),
            )
            for name in said
        }  # fmt: skip
        return PanelReport(
            items=n,
            people=belief.n_told,
            models=scores,
            decided_by_models=moved(U, policy.memberships_without(set(said))),
            would_change=would_change(belief.estimated_error, result),
            to_check=doubtful(belief),
            audit_share=share,
            notes=tuple(belief.panel.notes()),
        )

    def audit_order(self) -> list[int]:
        """All rows in the random order in which people are asked, to audit language models.

        Whoever lets a model answer some items only takes the first: they are the ones audited.

        Returns
        -------
        list of int
            Row numbers; neither answers nor items added later change their order.

        Raises
        ------
        SessionError
            If the session asks for similarities, or a plan of the paper asks.

        Examples
        --------
        >>> import askmeans.sessions
        >>> session = askmeans.sessions.create("pets.db", [[1.0], [2.0], [8.0], [9.0]],
        ...     n_clusters=2, cluster_names=["cats", "dogs"], random_state=0)
        >>> sorted(session.audit_order())
        [0, 1, 2, 3]
        """
        self._check_panel()
        policy = self._runtime.policy
        assert isinstance(policy, StratifiedPolicy)
        return audit_order(len(self.rows), policy.settings.seed)

    def _check_panel(self) -> None:
        """Refuse models where people are asked something else."""
        if self.config.has_plan or self.config.ask not in ("group", "membership"):
            raise SessionError(
                "A panel needs the default strategy, and a session that asks for groups or "
                f"memberships. Got {self.config.ask!r} with {self.config.strategy['kind']}; for "
                "others askmeans.oracles.ModelOracle answers a fit."
            )
