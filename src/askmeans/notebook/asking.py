"""`ask`: a widget for a session, or for a model and its data."""

import tempfile
from pathlib import Path
from typing import Any

from askmeans import sessions
from askmeans.estimators import ActiveFuzzyKMeans
from askmeans.estimators.inputs import check_items
from askmeans.exceptions import ParameterError
from askmeans.notebook.widget import AskWidget
from askmeans.queries import ME
from askmeans.sessions import Session

__all__ = ["ask"]

# Parameters that a session takes as the model has them.
_SHARED = ("n_clusters", "ask", "strategy", "budget", "levels", "fuzzifier", "random_state")


def ask(
    source: Session | ActiveFuzzyKMeans,
    X: Any = None,
    *,
    items: Any = None,
    cluster_names: Any = None,
    annotator: str = ME,
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
        return AskWidget(source, annotator)
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
            "The 'repeats' parameter of the model must be 1 in notebook.ask: nobody is asked the "
            f"same twice there. Got {source.repeats!r}."
        )
    matrix, seen = check_items(source, X)
    if items is None and hasattr(X, "columns"):
        items = X
    folder = tempfile.TemporaryDirectory(prefix="askmeans-", ignore_cleanup_errors=True)
    session = sessions.create(
        Path(folder.name) / "notebook.db", matrix, items=items, cluster_names=cluster_names,
        feature_names=seen.get("feature_names_in_"),
        **{name: getattr(source, name) for name in _SHARED},
    )  # fmt: skip
    return AskWidget(session, annotator, model=source, X=X, folder=folder)
