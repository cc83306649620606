"""The widget: shows the next card, takes what is pressed, draws the result beside it."""

import tempfile
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from askmeans.estimators import ActiveFuzzyKMeans
from askmeans.estimators.fitted import take_result
from askmeans.exceptions import AskmeansError, ParameterError
from askmeans.notebook.views import image_url, picture_of, view_of
from askmeans.queries import ME
from askmeans.sessions import Session, SessionResult
from askmeans.web.answering import Assignments
from askmeans.web.errors import tell

__all__ = ["AskWidget"]

_HERE = Path(__file__).parent


class AskWidget(anywidget.AnyWidget):
    """A session's cards for one annotator, with the page's look and keys; `ask` makes one.

    Every answer is in the session's database before the next card comes. `answered` counts them
    and can be observed, so that a plot of your own follows.

    Parameters
    ----------
    session : Session
        Whose questions are shown.
    annotator : str, default="me"
        Who answers.
    model : ActiveFuzzyKMeans or None, default=None
        The model that `fit` puts the answers into.
    X : array-like or None, default=None
        Its data.
    folder : tempfile.TemporaryDirectory or None, default=None
        A folder that goes with the widget.

    Attributes
    ----------
    session : Session
        The session.
    answered : int
        How many questions have an answer.

    Examples
    --------
    >>> from askmeans import notebook
    >>> widget = notebook.ask(open("pets.db"))
    >>> widget.shown["heading"]
    ['To which group does ', 'x0 = 1', ' belong?']
    """

    _esm = _HERE / "widget.js"
    _css = _HERE / "widget.css"

    shown = traitlets.Dict().tag(sync=True)  # the card, as widget.js draws it
    beside = traitlets.Dict().tag(sync=True)  # the result so far
    answered = traitlets.Int()

    def __init__(
        self,
        session: Session,
        annotator: str = ME,
        *,
        model: ActiveFuzzyKMeans | None = None,
        X: Any = None,
        folder: "tempfile.TemporaryDirectory[str] | None" = None,
    ) -> None:
        self.session = session
        self._annotator = annotator
        self._model, self._X = model, X
        self._folder = folder or tempfile.TemporaryDirectory(
            prefix="askmeans-", ignore_cleanup_errors=True
        )
        self._assignments = Assignments(session, settle_seconds=0.0)
        super().__init__()
        self._show()
        self.on_msg(self._heard)

    def result(self) -> SessionResult:
        """The best clustering from the answers so far.

        Returns
        -------
        SessionResult
            As `Session.result` has it.

        Examples
        --------
        >>> from askmeans import notebook
        >>> notebook.ask(open("pets.db")).result().memberships.shape
        (4, 2)
        """
        return self.session.result()

    def fit(self) -> ActiveFuzzyKMeans:
        """Put the answers so far into the model, as its `fit` would have with an oracle.

        Returns
        -------
        ActiveFuzzyKMeans
            The model that `ask` was given, fitted.

        Raises
        ------
        ParameterError
            If `ask` was given a session: `result` has what it knows.

        Examples
        --------
        >>> from askmeans import ActiveFuzzyKMeans, notebook
        >>> model = ActiveFuzzyKMeans(2, ask="group", random_state=0)
        >>> notebook.ask(model, [[1.0], [2.0], [8.0], [9.0]]).fit().n_queries_
        0
        """
        if self._model is None:
            raise ParameterError(
                "AskWidget.fit must have a model to fit. Got a session in notebook.ask; "
                "AskWidget.result has its clustering."
            )
        take_result(self._model, self._X, self.result())
        return self._model

    def _show(self, said: str = "", *, failed: bool = False) -> None:
        """Show the next question, and a sentence."""
        with self.session.reading_once():
            view = self._assignments.view(self._annotator)
            shown = view_of(view, self.session)
        turn = self.shown.get("turn", 0) + 1
        self.shown = {**shown, "turn": turn, "said": said, "failed": failed}
        self.answered = view.status.answered

    def _heard(self, _: Any, told: dict[str, Any], __: Any) -> None:
        """Do what somebody pressed; what is refused is said, and nothing is lost."""
        if told["do"] == "images":
            urls = {row: image_url(self.session, row, self._folder.name) for row in told["rows"]}
            self.send({"images": urls})
            return
        if told["do"] == "picture":
            self._draw()
            return
        try:
            said = self._do(told)
        except AskmeansError as error:
            self._try(tell(error, self.session), failed=True)
        except Exception as error:  # a fault of ours: the card must not wait for ever
            self._try(f"Not saved: {type(error).__name__}: {error}", failed=True)
            raise
        else:
            self._try(said)

    def _draw(self) -> None:
        """The result beside the card; where there is none, why, and the card stays as it is."""
        try:
            self.beside = picture_of(self.session)
        except AskmeansError as error:
            self.beside = {"failed": tell(error, self.session)}

    def _do(self, told: dict[str, Any]) -> str:
        """One message of widget.js; what was kept, in a sentence."""
        if told["do"] == "undo":
            return self._assignments.undo(self._annotator, told["key"], None, None)
        if told["do"] == "new":
            question, key, name = told["question"], told["key"], told["name"]
            return self._assignments.into_new_group(question, self._annotator, key, name)
        value = told["value"]
        if value == "none":
            value = ()
        elif isinstance(value, dict):
            value = {int(group): float(share) for group, share in value.items()}
        return self._assignments.give(told["question"], self._annotator, told["key"], value)

    def _try(self, said: str, *, failed: bool = False) -> None:
        """Show the next question; where the database cannot be read, the old one stays."""
        try:
            self._show(said, failed=failed)
        except AskmeansError as error:
            # The key stays, too: the same answer again is harmless.
            text = said if failed else tell(error, self.session)
            turn = self.shown["turn"] + 1
            self.shown = {**self.shown, "turn": turn, "said": text, "failed": True}
