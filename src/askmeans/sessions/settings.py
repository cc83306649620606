"""The settings of an owner: budget, pause, and options of the page."""

from typing import Any

from askmeans._util.checks import check_number, check_text
from askmeans._util.message import Message
from askmeans.exceptions import ParameterError
from askmeans.queries import ME
from askmeans.sessions.events import Event, Pause, Resume, SetBudget, SetOption
from askmeans.sessions.learning import AUDIT_SHARE, GOOD_ENOUGH
from askmeans.sessions.moves import Moves
from askmeans.sessions.runtime import Runtime

OPTIONS: dict[str, type] = {"purpose": str, "guidelines": str, "predicted_first": bool,
                           "gold_feedback": bool, "annotators_see_results": bool, "group_look": str,
                           "language": str, AUDIT_SHARE: float, GOOD_ENOUGH: float}  # fmt: skip
_LONGEST = 20_000  # characters of guidelines


class Settings:
    """Settings that may change while a session runs; `Session.settings`.

    Parameters
    ----------
    runtime, moves : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> receipt = session.settings.set_option("purpose", "We sort fruit by size.")
    >>> session.settings.options["purpose"]
    'We sort fruit by size.'
    """

    def __init__(self, runtime: Runtime, moves: Moves) -> None:
        self._runtime = runtime
        self._moves = moves

    @property
    def options(self) -> dict[str, Any]:
        """The options, by the names that `set_option` takes."""
        config = self._runtime.config
        with self._runtime.up_to_date() as state:
            return {name: initial_option(name, config.target) for name in OPTIONS} | state.options

    def set_option(self, name: str, value: Any, *, annotator: str = ME) -> Event:
        """Set an option of the page or of the policy.

        Parameters
        ----------
        name : str
            "purpose", what the session is for, in a sentence; "guidelines", what belongs where, in
            Markdown; "predicted_first", whether probable groups come first on a card, which biases
            people; "gold_feedback", whether people are shown the known answer after a gold
            question; "annotators_see_results", whether people invited as annotators see the
            result; "group_look", the order and colours of groups on the page (`web/looks.py`);
            "language", that of the page ("de"), where a person chose no other;
            "audit_share", the part of people's questions that is about random items, where
            advisers answer, too; "good_enough", the share of wrong items at which to stop, 0.0 for
            none.
        value : str, bool or float
            A text of at most 20,000 characters; True or False; a share from 0.0 to 1.0.
        annotator : str, default="me"
            Who decides it.

        Returns
        -------
        Event
            The stored event.

        Raises
        ------
        ParameterError
            If there is no such option, or the value is not of its kind.
        """
        kind = OPTIONS.get(name) if isinstance(name, str) else None
        fits = kind is not None and isinstance(value, kind) and len(str(value)) <= _LONGEST
        if not fits or (kind is float and not 0.0 <= value <= 1.0):
            raise ParameterError(
                f"The 'name' parameter of Settings.set_option must be one of {', '.join(OPTIONS)}, "
                f"with a text of at most {_LONGEST} characters, True or False for three of them, "
                f"or a share from 0.0 to 1.0. Got {name!r:.40} and {value!r:.40} instead.",
                user_message=Message(
                    "This text has {n} characters, and at most {most} can be saved. Shorten it.",
                    n=len(str(value)),
                    most=_LONGEST,
                ),
            )
        if isinstance(value, str):
            check_text(value, f"The option {name!r}")
        return self._moves.log(lambda: SetOption(annotator=annotator, options={name: value}))

    def set_budget(self, n: int, *, annotator: str = ME) -> Event:
        """Allow another number of questions, more or fewer; answers are kept in either case.

        Parameters
        ----------
        n : int
            Most different questions to answer, those answered so far included.
        annotator : str, default="me"
            Who decides it.

        Returns
        -------
        Event
            The stored event.
        """
        check_number(n, "n", "Settings.set_budget", integer=True, minimum=1)
        most = min(int(n), 2**53)  # what every database can store
        return self._moves.log(lambda: SetBudget(annotator=annotator, n=most))

    def pause(self, *, annotator: str = ME) -> Event:
        """Hand out no questions until `resume`; answers are still taken.

        Parameters
        ----------
        annotator : str, default="me"
            Who pauses it.

        Returns
        -------
        Event
            The stored event.
        """
        return self._moves.log(lambda: Pause(annotator=annotator))

    def resume(self, *, annotator: str = ME) -> Event:
        """Hand out questions again.

        Parameters
        ----------
        annotator : str, default="me"
            Who resumes it.

        Returns
        -------
        Event
            The stored event.
        """
        return self._moves.log(lambda: Resume(annotator=annotator))


def initial_option(name: str, target: float) -> Any:
    """An option's value before it was set."""
    return target if name == GOOD_ENOUGH else OPTIONS[name]()
