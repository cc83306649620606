"""Every error and warning that askmeans raises by name.

The tree::

    AskmeansError
    |-- ParameterError (ValueError)   a parameter breaks its rule
    |   `-- ParameterTypeError (TypeError) it is of another kind altogether
    |-- DataError (ValueError)        the data, or an array beside it, cannot be used
    |   `-- DataTypeError (TypeError) it is of a kind that cannot: sparse, objects, complex
    |-- QueryError (ValueError)       a question that cannot be asked: no such item, or one twice
    |-- AnswerError (ValueError)      an answer that is none: not a number, or outside [0, 1]
    |-- BudgetError (ValueError)      a budget too small for what is asked of it
    |-- RankError (ValueError)        the answers do not tell so many clusters apart
    |-- PlanError                     a plan broke its contract: it went on after StopAsking
    |-- OracleError                   whoever answers failed; carries the result so far
    |-- ModelError                    a language model's endpoint refuses, or cannot be asked
    |   `-- ModelBusyError            it failed for now: another try may help
    |-- MissingExtraError (ImportError) an optional package is not installed
    |-- DeviceError (RuntimeError)    there is no card to compute on
    |-- SessionError                  a session cannot do what is asked of it
    |   |-- InvitationError           who acts was let in by an invitation that ended
    |   |-- NoSessionError (LookupError) there is none of this name, or no database
    |   |-- SessionExistsError (ValueError) there is one of this name already
    |   |-- OtherDataError (ValueError) it belongs to other data
    |   `-- KeyConflictError (ValueError) a key, or an answer, was used for something else
    |-- StoreError                    the database cannot do what is asked of it
    |   |-- StoreBusyError            somebody else holds it for too long
    |   |-- StoreLostError            it cannot be reached, or the connection broke
    |   |-- StoreFullError            there is no room left
    |   |-- StoreReadOnlyError        it may not be written to
    |   |   `-- StoreMovedError         its file was removed or replaced while it was open
    |   |-- StoreDamagedError         it is no database, or a broken one
    |   `-- StoreVersionError         it is of another version of askmeans
    `-- StopAsking                    a message to a plan: no more questions

    AskmeansWarning (UserWarning)
    |-- CollapseWarning               clusters have merged: the result has fewer than asked
    |-- LittleInformationWarning      answers too noisy to tell so many clusters apart
    |-- MissingClusterWarning         no item asked about belongs to a cluster
    |-- MoreClustersWarning           the answers show more clusters than were asked for
    |-- NobodyToAskWarning            no oracle was given: an unsupervised fit was made
    `-- StoredSettingWarning          a setting that was stored is none of this version

A message names the parameter, the rule, the value received and the remedy. An error that a person
may meet on the page has a `user_message`, too: what they did, and what they can do now.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from askmeans.queries import Answers
    from askmeans.results import Result

__all__ = [
    "AnswerError",
    "AskmeansError",
    "AskmeansWarning",
    "BudgetError",
    "CollapseWarning",
    "DataError",
    "DataTypeError",
    "DeviceError",
    "InvitationError",
    "KeyConflictError",
    "LittleInformationWarning",
    "MissingClusterWarning",
    "MissingExtraError",
    "ModelBusyError",
    "ModelError",
    "MoreClustersWarning",
    "NoSessionError",
    "NobodyToAskWarning",
    "OracleError",
    "OtherDataError",
    "ParameterError",
    "ParameterTypeError",
    "PlanError",
    "QueryError",
    "RankError",
    "SessionError",
    "SessionExistsError",
    "StopAsking",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreLostError",
    "StoreMovedError",
    "StoreReadOnlyError",
    "StoreVersionError",
    "StoredSettingWarning",
]


class AskmeansError(Exception):
    """Base of every error that askmeans raises by name.

    Where an error ended a run, `result` is the best clustering from the answers before it, and
    `history` every answer; `result` is None where the plan itself failed.

    Parameters
    ----------
    *args : object
        The message, which names the parameter, the rule, the value received and the remedy.
    user_message : str or None, default=None
        The same for a person at the page: what they did, and what they can do now.
    """

    result: "Result | None" = None
    history: "Answers | None" = None

    def __init__(self, *args: object, user_message: str | None = None) -> None:
        super().__init__(*args)
        self.user_message = user_message


class ParameterError(AskmeansError, ValueError):
    """A parameter breaks its rule; nothing was done."""


class ParameterTypeError(ParameterError, TypeError):
    """A parameter is of another kind than it must be: labels in the place of an oracle."""


class DataError(AskmeansError, ValueError):
    """The data, or an array that goes with it, cannot be used; nothing was done."""


class DataTypeError(DataError, TypeError):
    """The data is of a kind that cannot be used: sparse, objects, complex numbers."""


class QueryError(AskmeansError, ValueError):
    """A question that cannot be asked: about no item, or about one item twice."""


class AnswerError(AskmeansError, ValueError):
    """An answer that is none: not a number, or outside [0, 1]."""


class BudgetError(AskmeansError, ValueError):
    """A budget too small for what is asked of it; the message names the smallest."""


class OracleError(AskmeansError):
    """Whoever answers failed.

    Parameters
    ----------
    message : str
        What happened.
    result : Result
        The best clustering from the answers so far.
    """

    def __init__(self, message: str, result: "Result") -> None:
        super().__init__(message)
        self.result = result


class RankError(AskmeansError, ValueError):
    """The answers do not tell so many clusters apart: the target has fewer."""


class PlanError(AskmeansError):
    """A plan broke its contract: it must return a Clustering when StopAsking is thrown into it."""


class StopAsking(AskmeansError):  # noqa: N818 - a message, not an error
    """Tells a plan that there will be no more answers.

    A driver throws it into a plan; an oracle may raise it when the person has had enough.

    Parameters
    ----------
    answers : ndarray of shape (n_questions,)
        Answers to the open batch, NaN where there is none.
    reached : ndarray of bool of shape (n_questions,) or None, default=None
        Which questions were reached, for whoever can tell "cannot say" from "not asked"; None
        counts those as reached that have an answer.
    """

    def __init__(
        self, answers: "NDArray[np.float64]", reached: "NDArray[np.bool_] | None" = None
    ) -> None:
        super().__init__("no more questions, please")
        self.answers = answers
        self.reached = reached

    @property
    def asked(self) -> "NDArray[np.bool_]":
        """Which questions count as asked: those reached, or else those that have an answer."""
        import numpy as np

        if self.reached is not None:
            return self.reached
        said = ~np.isnan(np.asarray(self.answers, dtype=np.float64))
        anything: NDArray[np.bool_] = said.reshape(len(said), -1).sum(axis=1) > 0
        return anything


class ModelError(AskmeansError):
    """A language model's endpoint refuses a request, or cannot be asked.

    Parameters
    ----------
    message : str
        What happened.
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
    """There is no card to compute on, or it cannot be used."""


class SessionError(AskmeansError):
    """A session cannot do what is asked of it; nothing was done."""


class InvitationError(SessionError):
    """The invitation under which somebody acts was revoked or has expired; nothing was kept."""


class NoSessionError(SessionError, LookupError):
    """There is no session of this name, or no database at this place."""


class SessionExistsError(SessionError, ValueError):
    """There is a session of this name already."""


class OtherDataError(SessionError, ValueError):
    """The session belongs to other data than what was given or is there now."""


class KeyConflictError(SessionError, ValueError):
    """A key was used for something else, or a question answered otherwise; nothing was changed."""


class StoreError(AskmeansError):
    """The database cannot do what is asked of it; nothing was changed."""


class StoreBusyError(StoreError):
    """Somebody else holds the database for too long."""


class StoreLostError(StoreError):
    """The database cannot be reached, or the connection broke: a write may have been done."""


class StoreFullError(StoreError):
    """There is no room left for the database."""


class StoreReadOnlyError(StoreError):
    """The database may not be written to, or its folder may not."""


class StoreMovedError(StoreReadOnlyError):
    """The database was removed, moved or replaced while it was open; it can still be read."""


class StoreDamagedError(StoreError):
    """The file is no database, or a broken one."""


class StoreVersionError(StoreError):
    """The database was made by another version of askmeans."""


class AskmeansWarning(UserWarning):
    """Base of every warning that askmeans gives by name."""


class CollapseWarning(AskmeansWarning):
    """Two or more clusters have merged, so the result has fewer than were asked for."""


class LittleInformationWarning(AskmeansWarning):
    """Answers are too noisy to tell so many clusters apart; the result says little."""


class MissingClusterWarning(AskmeansWarning):
    """No item that was asked about belongs to some cluster, so its centre is a guess."""


class MoreClustersWarning(AskmeansWarning):
    """The answers show more clusters than were asked for, so these cannot explain them."""


class NobodyToAskWarning(AskmeansWarning):
    """No oracle was given, so nobody was asked and an unsupervised fit was made."""


class StoredSettingWarning(AskmeansWarning):
    """A setting that was stored with a strategy is none of this version, and is left out."""
