"""The errors and warnings of askmeans.

Errors of parameters, data, questions, answers and budgets are ValueErrors, too. A message names the
parameter, the rule, the value received and the remedy. An error that a user may meet on the page
also has a `user_message`: what the user did, and how to go on.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from askmeans._util.message import Message
    from askmeans.queries import Answers
    from askmeans.results import Result

__all__ = [
    "AnswerError",
    "AskmeansError",
    "AskmeansWarning",
    "BudgetError",
    "DataError",
    "MissingExtraError",
    "ModelBusyError",
    "ModelError",
    "OracleError",
    "ParameterError",
    "QueryError",
    "SessionError",
    "StopAsking",
    "StoreBusyError",
    "StoreError",
]


class AskmeansError(Exception):
    """Base class of all errors of askmeans.

    If an error ends a run, `result` is the best clustering from the answers before it, and
    `history` has these answers; `result` is None if the plan itself failed.

    Parameters
    ----------
    *args : object
        The message, which names the parameter, the rule, the value received and the remedy.
    user_message : str or None, default=None
        A message for users of the page: what they did, and how to go on.
    """

    result: "Result | None" = None
    history: "Answers | None" = None

    def __init__(self, *args: object, user_message: str | None = None) -> None:
        super().__init__(*args)
        self.user_message = user_message


class ParameterError(AskmeansError, ValueError):
    """An invalid parameter; nothing was changed."""


class ParameterTypeError(ParameterError, TypeError):
    """A parameter of the wrong type, such as labels instead of an oracle."""


class DataError(AskmeansError, ValueError):
    """Invalid data, or an invalid array beside it; nothing was changed."""


class DataTypeError(DataError, TypeError):
    """Data of the wrong type: sparse, objects, complex numbers."""


class QueryError(AskmeansError, ValueError):
    """An invalid question: about an unknown item, or about the same item twice."""


class AnswerError(AskmeansError, ValueError):
    """An invalid answer: not a number, or outside [0, 1]."""


class BudgetError(AskmeansError, ValueError):
    """A budget that is too small; the message names the smallest."""


class OracleError(AskmeansError):
    """The oracle failed.

    Parameters
    ----------
    message : str
        The oracle's error.
    result : Result
        The best clustering from the answers so far.
    """

    def __init__(self, message: str, result: "Result") -> None:
        super().__init__(message)
        self.result = result


class RankError(AskmeansError, ValueError):
    """The answers do not determine so many clusters; the target has fewer."""


class PlanError(AskmeansError):
    """A plan did not return a Clustering when StopAsking was thrown into it."""


class StopAsking(AskmeansError):  # noqa: N818 - a message, not an error
    """Message that there will be no more answers, with the answers so far.

    An oracle raises it when the annotator stops; a driver throws it into a plan, which then returns
    its best result. An oracle that fails raises it with the error as its cause.

    Parameters
    ----------
    answers : ndarray of shape (n_questions,)
        Answers to the open batch, NaN for missing ones.
    reached : ndarray of bool of shape (n_questions,) or None, default=None
        Which questions were asked; this distinguishes "cannot say" from "not asked". None means
        those with an answer.
    """

    def __init__(
        self, answers: "NDArray[np.float64]", reached: "NDArray[np.bool_] | None" = None
    ) -> None:
        super().__init__("There will be no more answers.")
        self.answers = answers
        self._reached = reached

    @property
    def reached(self) -> "NDArray[np.bool_]":
        """Which questions were asked."""
        import numpy as np

        if self._reached is not None:
            return self._reached
        known = ~np.isnan(np.asarray(self.answers, dtype=np.float64))
        return np.asarray(known.any(axis=tuple(range(1, known.ndim))))


class ModelError(AskmeansError):
    """A language model's endpoint refuses a request or is down.

    Parameters
    ----------
    message : str
        The endpoint's error.
    tokens : (int or None, int or None) or None, default=None
        Tokens read and written that may be billed nevertheless, None for unknown ones; None alone
        where nothing is billed.
    lost_tries : int, default=0
        Earlier tries of the same request that got no reply and may be billed, too.
    """

    def __init__(
        self,
        message: str,
        *,
        tokens: tuple[int | None, int | None] | None = None,
        lost_tries: int = 0,
    ) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.lost_tries = lost_tries


class ModelBusyError(ModelError):
    """A language model failed for now: the same request may succeed later."""


class MissingExtraError(AskmeansError, ImportError):
    """An optional package is not installed; the message has the line that installs it."""


class DeviceError(AskmeansError, RuntimeError):
    """There is no usable GPU."""


class SessionError(AskmeansError):
    """An invalid request to a session; nothing was changed."""


class InvitationError(SessionError):
    """The user's invitation was revoked or has expired; nothing was stored."""


class NoSessionError(SessionError, LookupError):
    """There is no session of this name, or no database at this path."""


class SessionExistsError(SessionError, ValueError):
    """A session of this name exists already."""


class OtherDataError(SessionError, ValueError):
    """The session was created from different data."""


class KeyConflictError(SessionError, ValueError):
    """The idempotency key, or the question, has a different answer already; nothing was changed."""


class StoreError(AskmeansError):
    """A failure of the database; nothing was changed."""


class StoreBusyError(StoreError):
    """Another process locks the database for too long."""


class StoreLostError(StoreError):
    """The database cannot be reached, or the connection broke; a write may have succeeded."""


class StoreFullError(StoreError):
    """The disk of the database is full."""


class StoreReadOnlyError(StoreError):
    """The database or its folder is read-only."""


class StoreMovedError(StoreReadOnlyError):
    """The database was removed, moved or replaced while it was open; it can still be read."""


class StoreDamagedError(StoreError):
    """The file is damaged or no database."""


class StoreVersionError(StoreError):
    """The database has the schema of another version of askmeans."""


class AskmeansWarning(UserWarning):
    """Base class of all warnings of askmeans."""

    def with_names(self, names: "Sequence[str]") -> str:  # noqa: ARG002 - for subclasses
        """Return the message with names instead of numbers of clusters.

        Parameters
        ----------
        names : sequence of str
            The name of each cluster.

        Returns
        -------
        str
            The message.
        """
        message = self.args[0] if self.args else ""
        return message if isinstance(message, str) else str(self)


class CollapseWarning(AskmeansWarning):
    """Two or more clusters have merged, so the result has fewer than `n_clusters`."""


class LittleInformationWarning(AskmeansWarning):
    """The answers are too noisy to determine so many clusters."""


class MissingClusterWarning(AskmeansWarning):
    """No queried item belongs to some clusters, so their centres are arbitrary.

    Parameters
    ----------
    message : str or Message
        The message, with ``{clusters}`` where they are listed.
    clusters : tuple of int, default=()
        The numbers of the clusters.
    """

    def __init__(self, message: "str | Message", clusters: tuple[int, ...] = ()) -> None:
        super().__init__(message, clusters)
        self.message = message
        self.clusters = clusters

    def __str__(self) -> str:
        return self._naming(f"cluster {', '.join(map(str, self.clusters))}")

    def with_names(self, names: "Sequence[str]") -> str:
        named = (names[j] if j < len(names) else f"cluster {j}" for j in self.clusters)
        return self._naming(", ".join(named))

    def _naming(self, clusters: str) -> str:
        filled = getattr(self.message, "filled", None)  # of one that can be translated
        if filled is None:
            return self.message.replace("{clusters}", clusters)
        text: str = filled(clusters=clusters)
        return text


class MoreClustersWarning(AskmeansWarning):
    """The answers indicate more clusters than `n_clusters`."""


class NoOracleWarning(AskmeansWarning):
    """There is no oracle, so the fit was unsupervised."""
