"""Creating and opening sessions."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans import __version__
from askmeans._util.checks import check_name, check_text
from askmeans._util.warning_notes import collect_warnings
from askmeans.exceptions import NoSessionError, OtherDataError, ParameterError
from askmeans.fuzzy.model import check_enough_items
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.sessions.config import Config
from askmeans.sessions.display import Display, exemplars_of
from askmeans.sessions.groups import check_description
from askmeans.sessions.rows import (
    blank_rows,
    fingerprint,
    make_part,
    prepare_matrix,
    stored_chunks,
)
from askmeans.sessions.session import Session
from askmeans.sessions.store import open_store
from askmeans.sessions.store.records import SessionRecord
from askmeans.spec import SIMILARITIES
from askmeans.tables.names import encode_names, sentences

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store
    from askmeans.tables import Recipe

MADE_BY = f"askmeans {__version__}"
_EXEMPLARS = 10  # stored typical items of each group: more than the page shows beside an item


def create(
    url: str | Path,
    X: Any,
    *,
    n_clusters: int | str,
    items: Any = None,
    cluster_names: Sequence[str] | None = None,
    descriptions: Sequence[str] | None = None,
    use_names: bool = True,
    ask: str | None = None,
    strategy: Any = "auto",
    budget: int | None = None,
    target: float | None = None,
    levels: int | None = None,
    annotations: int | tuple[int, int] = 1,
    fuzzifier: float = 2.0,
    random_state: Any = None,
    name: str = "main",
    ids: Sequence[Any] | None = None,
    text: str | None = None,
    image: str | None = None,
    folder: str | Path | None = None,
    lease_seconds: float = 600.0,
) -> Session:
    """Create a session, and its database if it does not exist.

    Parameters
    ----------
    url : str or Path
        A path, sqlite:///PATH or postgresql://USER@HOST/NAME.
    X : array-like of shape (n_items, n_features), path of a .npy file, or askmeans.tables.Items
        The features to cluster. They are copied into the database; of a file above 256 MiB only the
        path and a checksum are stored. `Items` also have the columns for display, ids and the
        recipe that makes features of the table.
    n_clusters : int or "auto"
        Number of clusters. "auto" starts from two, or from the number of names, and adds a group
        whenever enough items belong to none of them. It needs ask="group".
    items : pandas.DataFrame, list of str, list of dict, array-like or None, default=None
        The items for display, one row each; None for X itself. A frame's index, if
        it is not just numbered, gives the ids.
    cluster_names : sequence of str or None, default=None
        Names of the groups: all different, and none "id". None for "Group A" and so on; then
        `Session.exemplars` has typical items by an unsupervised fit.
    descriptions : sequence of str or None, default=None
        A line on what belongs to each group, as in `session.groups.describe`.
    use_names : bool, default=True
        Whether names and descriptions are training examples of their groups, if X is `Items` with a
        text feature. They are encoded like the texts. The examples of a group count as at most one
        answer, and less if the answers contradict them.
    ask : {"group", "membership", "similarity", "pairwise", "relative"} or None, default=None
        The kind of question, as in `ActiveFuzzyKMeans`; None for "group".
    strategy : "auto" or Stratified, default="auto"
        The parameters of the default strategy.
    budget : int or None, default=None
        Maximum number of different questions; None for no limit.
    target : float or None, default=None
        The share of items in the wrong group below which the result is good enough (.05 for 5 %);
        None for the strategy's own. This is advice: questions continue.
    levels : int or None, default=None
        Number of points of the answers' scale; None for a continuous one.
    annotations : int or tuple of int, default=1
        How many annotators answer each question. (2, 4) asks two, and up to four if their answers
        differ by more than half. If the models expected an answer that differs by more than half,
        one more annotator is asked, so (1, 3) asks most questions once.
    fuzzifier : float, default=2.0
        Alpha of the clustering that the annotators have in mind, at least 1.
    random_state : int, numpy Generator or None, default=None
        The seed of the choice of questions; stored as a number.
    name : str, default="main"
        The session's name, unique in its database.
    ids : sequence or None, default=None
        Ids of the items, all different.
    text, image : str or None, default=None
        The columns of `items` that are running text, and paths of images.
    folder : str, Path or None, default=None
        The folder of relative image paths.
    lease_seconds : float, default=600.0
        Duration for which a question is reserved for an annotator.

    Returns
    -------
    Session
        Ready to ask.

    Raises
    ------
    ParameterError, DataError
        If a parameter breaks its rule, or X or the items cannot be used.
    SessionExistsError
        If the name is taken.
    StoreError
        If the database cannot be used.

    Examples
    --------
    >>> from askmeans import sessions
    >>> session = sessions.create("veg.db", [[1.0], [2.0], [8.0], [9.0]], n_clusters=2,
    ...     items=["pea", "bean", "leek", "kale"], ask="membership", random_state=0)
    >>> session.groups.names
    ['Group A', 'Group B']
    """
    config = Config.of_create(
        n_clusters=n_clusters, ask=ask, strategy=strategy, target=target, budget=budget,
        levels=levels, annotations=annotations, fuzzifier=fuzzifier,
        random_state=random_state, lease_seconds=lease_seconds, cluster_names=cluster_names,
        use_names=use_names,
    )  # fmt: skip
    _check_session_name(name)
    lines = _checked_lines(descriptions, config)
    display: dict[str, Any] = {
        "items": items, "ids": ids, "text": text, "image": image, "folder": folder,
    }  # fmt: skip
    recipe, functions = None, {}
    if hasattr(X, "session_options"):  # askmeans.tables.Items, which the parameters here override
        options = X.session_options if items is None else X.session_options | {"hidden": ()}
        display = options | {key: value for key, value in display.items() if value is not None}
        X, recipe, functions = X.features, X.recipe, X.functions
    if display["folder"] is not None:
        display["folder"] = str(Path(display["folder"]).absolute())
    features = _feature_names(X, recipe)
    matrix, part = make_part(X, 0, feature_names=features, **display)
    check_enough_items(len(matrix), config.n_clusters, "sessions.create")
    # The policy raises its errors before anything is written; the caller may change X later.
    own = matrix if part.path is not None else matrix.copy()
    policy, notes = collect_warnings(lambda: config.make_policy(own))
    columns = None if recipe is None else {encoder.column for encoder in recipe.encoders}
    blank = set(blank_rows(Display(**part.display), matrix, columns))
    config = replace(
        config, typical=_typical_items(policy, matrix, config, blank), feature_names=features,
        units=None if recipe is None else np.asarray(recipe.units, dtype=np.float64).tolist(),
        recipe=None if recipe is None else recipe.to_json(),
        encoded_names=_encode_names(recipe, functions, config, lines),
    )  # fmt: skip
    store = open_store(url, make=True)
    try:
        record = store.create(
            name, config.to_json(), part, stored_chunks(matrix, part), made_by=MADE_BY
        )
        session = Session(store, record)
        if part.path is None and not session.rows.blank:
            session.learning.adopt_policy(policy, notes)
        for group, line in enumerate(lines):
            if line:
                session.groups.describe(group, line)
        return session
    except BaseException:
        store.close()
        raise


def open(url: str | Path, name: str | None = None, *, X: Any = None) -> Session:  # noqa: A001 - the pinned name
    """Open a session.

    Parameters
    ----------
    url : str or Path
        A path, sqlite:///PATH or postgresql://USER@HOST/NAME.
    name : str or None, default=None
        The session's name; None if there is only one.
    X : array-like of shape (n_items, n_features) or None, default=None
        The data of the session, to check it: a session of other data is refused.

    Returns
    -------
    Session
        The session.

    Raises
    ------
    NoSessionError
        If there is no such database or session.
    OtherDataError
        If it belongs to other data.
    StoreVersionError
        If it was made with a strategy of the paper, or by another version.
    StoreError
        If the database cannot be used.

    Examples
    --------
    >>> from askmeans import sessions
    >>> sessions.open("fruit.db").name
    'main'
    """
    store = open_store(url)
    try:
        record = load_record(store, name)
        if X is not None and fingerprint(prepare_matrix(X)[0]) != record.fingerprint:
            raise OtherDataError(
                f"The session {record.name!r} in {store.url} must be about the data given. Got "
                "other numbers; open the database of this data, or make a new session."
            )
        return Session(store, record)
    except BaseException:
        store.close()
        raise


def load_record(store: "Store", name: str | None) -> SessionRecord:
    """Load the session of this name, or the only one."""
    if name is None:
        existing = store.names()
        if len(existing) != 1:
            raise NoSessionError(
                f"The 'name' parameter must name a session of {store.url}. Got none, and "
                f"there are {', '.join(map(repr, existing)) or 'no sessions'}."
            )
        (name,) = existing
    return store.load(name)


def names(url: str | Path) -> list[str]:
    """Names of the sessions in a database.

    Parameters
    ----------
    url : str or Path
        A path, sqlite:///PATH or postgresql://USER@HOST/NAME.

    Returns
    -------
    list of str
        In the order they were made.

    Examples
    --------
    >>> names("fruit.db")
    ['main']
    """
    store = open_store(url)
    try:
        return store.names()
    finally:
        store.close()


def _check_session_name(name: str) -> None:
    """Refuse a name with slashes."""
    if set("/\\") & set(check_name(name, "name", "sessions.create")):
        raise ParameterError(
            "The 'name' parameter of sessions.create must be a name without slashes: files are "
            f"named after it. Got {name!r:.60} instead."
        )


def _feature_names(X: Any, recipe: "Recipe | None") -> list[str] | None:
    """Names of the features, checked; None for data without names."""
    columns = getattr(X, "columns", None) if recipe is None else recipe.feature_names
    features = None if columns is None else [str(column) for column in columns]
    for feature in features or ():
        check_text(feature, "The name of a feature")
    return features


def _typical_items(
    policy: StratifiedPolicy, X: NDArray[np.floating], config: Config, blank: set[int]
) -> list[list[int]] | None:
    """Typical items of each group by an unsupervised fit, without blank rows.

    None if the groups have names, or the session asks for similarities.
    """
    if config.cluster_names is not None or config.ask in SIMILARITIES:
        return None
    fit, _ = collect_warnings(policy.clustering)
    rows = (exemplars_of(fit, X, j, _EXEMPLARS + len(blank)) for j in range(config.n_clusters))
    return [[row for row in each if row not in blank][:_EXEMPLARS] for each in rows]


def _encode_names(
    recipe: "Recipe | None", functions: dict[str, Any], config: Config, lines: Sequence[str]
) -> dict[str, list[float]] | None:
    """Features of names and descriptions, if their embedding is a function of the caller."""
    if recipe is None or not functions or not config.uses_names:
        return None
    groups = zip_longest(config.cluster_names or (), lines, fillvalue="")
    texts = [text for name, line in groups for text in sentences(name, line)]
    rows = encode_names(recipe, texts, functions)
    return {
        text: row.tolist() for text, row in zip(texts, rows, strict=True) if np.isfinite(row).all()
    }


def _checked_lines(descriptions: Sequence[str] | None, config: Config) -> list[str]:
    """Check the descriptions: one for each group."""
    lines = [] if descriptions is None else [check_description(text) for text in descriptions]
    if lines and (len(lines) != config.n_clusters or config.ask in SIMILARITIES):
        raise ParameterError(
            "The 'descriptions' parameter of sessions.create must have one for each of "
            f'{config.n_clusters} groups, and needs ask="group" or "membership". Got '
            f"{len(lines)} with ask={config.ask!r}."
        )
    return [str(line) for line in lines]
