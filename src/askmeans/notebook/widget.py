"""The widget: the page's card in a frame, and the result so far below it."""

import tempfile
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from askmeans.estimators import ActiveFuzzyKMeans
from askmeans.estimators.fitted import take_result
from askmeans.exceptions import AskmeansError, ParameterError
from askmeans.notebook.card import CardDocument
from askmeans.queries import ME
from askmeans.sessions import Session, SessionResult
from askmeans.web.errors import explain, status_of

__all__ = ["AskWidget"]


class AskWidget(anywidget.AnyWidget):
    """The page's cards of a session for one annotator; `ask` makes one.

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
    >>> widget.answered
    0
    """

    _esm = Path(__file__).parent / "widget.js"
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
        self.folder = folder or tempfile.TemporaryDirectory(
            prefix="askmeans-", ignore_cleanup_errors=True
        )
        self._card = CardDocument(session, annotator, self.folder.name)
        super().__init__(answered=session.status(annotator=annotator).answered)
        self.on_msg(self._receive)

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

    def _receive(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Reply to a request of widget.js; what fails is a sentence on the card."""
        path, status, is_html = message["path"], 200, True
        try:
            if path == "document":
                text = self._card.html()
            elif path == "result":
                text = self._card.result_so_far()
            else:
                text, status = self._card.reply(path, message.get("body") or "")
                self.answered = self.session.status(annotator=self._annotator).answered
        except AskmeansError as error:
            text, status, is_html = explain(error), status_of(error), False
        except Exception as error:  # a fault of ours: the card must not wait for ever
            text = f"Not saved: {type(error).__name__}: {error}"
            self._reply(message, text, 500, is_html=False)
            raise
        self._reply(message, text, status, is_html=is_html)

    def _reply(self, message: dict[str, Any], text: str, status: int, *, is_html: bool) -> None:
        """A reply to widget.js, which says to which request of which cell it belongs."""
        kind = "text/html" if is_html else "text/plain"
        reply = {"text": text, "status": status, "kind": kind}
        self.send({"view": message.get("view"), "id": message.get("id"), **reply})
