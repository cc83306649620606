"""`ask`: the page's card in a notebook, for a session, or for a model and its data."""

import tempfile
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from askmeans import sessions
from askmeans._util.checks import check_choice
from askmeans.estimators import ActiveFuzzyKMeans
from askmeans.estimators.base import check_items
from askmeans.estimators.fitted import take_result
from askmeans.exceptions import AskmeansError, ParameterError
from askmeans.notebook.card import CardDocument
from askmeans.queries import ME
from askmeans.sessions import Session
from askmeans.web.errors import status_of
from askmeans.web.languages import NAMES

# Parameters that a session takes as the model has them.
_SHARED = ("n_clusters", "ask", "strategy", "budget", "levels", "fuzzifier", "random_state")


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
    language : {"ar", "de", "en", "es", "fr", "zh-Hans"}, default="en"
        The language of the cards.

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
        language: str = "en",
    ) -> None:
        check_choice(language, NAMES, "language", "notebook.ask")
        self.session = session
        self._annotator = annotator
        self._model, self._X = model, X
        self.folder = folder or tempfile.TemporaryDirectory(
            prefix="askmeans-", ignore_cleanup_errors=True
        )
        self._card = CardDocument(session, annotator, self.folder.name, language)
        super().__init__(answered=session.status(annotator=annotator).answered)
        self.on_msg(self._receive)

    def fit(self) -> ActiveFuzzyKMeans:
        """Set the model's fitted attributes from the answers so far, as `fit` does with an oracle.

        Returns
        -------
        ActiveFuzzyKMeans
            The model that `ask` was given, fitted.

        Raises
        ------
        ParameterError
            If `ask` was given a session: `Session.result` has its clustering.

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
                "AskWidget.session.result() has its clustering."
            )
        take_result(self._model, self._X, self.session.result())
        return self._model

    def _receive(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Reply to a request of widget.js; an error is a sentence on the card."""
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
            text, status, is_html = self._card.explain(error), status_of(error), False
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


def ask(
    source: Session | ActiveFuzzyKMeans,
    X: Any = None,
    *,
    items: Any = None,
    cluster_names: Any = None,
    annotator: str = ME,
    language: str = "en",
) -> AskWidget:
    """Show the questions of a session, or of a model about its data, as cards below the cell.

    Parameters
    ----------
    source : Session or ActiveFuzzyKMeans
        A session keeps every answer in its database. The answers to a model are kept in a
        temporary file, which goes with the widget: `AskWidget.fit` puts them into the model.
    X : array-like of shape (n_items, n_features) or None, default=None
        The items, as `ActiveFuzzyKMeans.fit` takes them; for a model only.
    items : pandas.DataFrame, list of str, list of dict, array-like or None, default=None
        The items as people should see them, as in `sessions.create`; None for X itself. For a
        model only.
    cluster_names : sequence of str or None, default=None
        What the groups are called, as in `sessions.create`; for a model only.
    annotator : str, default="me"
        Who answers.
    language : {"ar", "de", "en", "es", "fr", "zh-Hans"}, default="en"
        The language of the cards.

    Returns
    -------
    AskWidget
        The last line of a cell shows it.

    Raises
    ------
    ParameterError
        If `source` is neither, X is missing or too much, or the model asks in a way that a session
        does not: with `repeats`.
    DataError
        If X cannot be used.

    See Also
    --------
    askmeans.sessions.create : A session that lasts.

    Examples
    --------
    >>> from askmeans import ActiveFuzzyKMeans, notebook
    >>> model = ActiveFuzzyKMeans(2, ask="group", random_state=0)
    >>> widget = notebook.ask(model, [[1.0], [2.0], [8.0], [9.0]], items=["apple", "plum", "melon",
    ...     "pumpkin"], cluster_names=["small", "large"])
    >>> for group in (0, 1):  # as if a key was pressed
    ...     receipt = widget.session.tell(widget.session.ask()[0].id, group)
    >>> widget.fit().n_queries_
    2
    """
    if isinstance(source, Session):
        of_a_model = {"X": X, "items": items, "cluster_names": cluster_names}
        for name, value in of_a_model.items():
            if value is not None:
                raise ParameterError(
                    f"The {name!r} parameter of notebook.ask must be None with a session, which "
                    f"has its own. Got {type(value).__name__}."
                )
        return AskWidget(source, annotator, language=language)
    if not isinstance(source, ActiveFuzzyKMeans):
        raise ParameterError(
            "The 'source' parameter of notebook.ask must be a Session or an ActiveFuzzyKMeans. "
            f"Got {type(source).__name__} instead."
        )
    if X is None:
        raise ParameterError(
            "The 'X' parameter of notebook.ask must be the model's data. Got None; pass the items."
        )
    if source.repeats != 1:
        raise ParameterError(
            "The 'repeats' parameter of the model must be 1: notebook.ask asks each question once. "
            f"Got {source.repeats!r}."
        )
    matrix, _ = check_items(source, X)
    if items is None and hasattr(X, "columns"):
        items = X
    folder = tempfile.TemporaryDirectory(prefix="askmeans-", ignore_cleanup_errors=True)
    session = sessions.create(
        Path(folder.name) / "notebook.db", matrix, items=items, cluster_names=cluster_names,
        **{name: getattr(source, name) for name in _SHARED},
    )  # fmt: skip
    return AskWidget(session, annotator, model=source, X=X, folder=folder, language=language)
