"""`askmeans fit`: a data file in, memberships, centres and an account out."""

import json
import sys
import warnings
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_enough_items, check_name, check_number
from askmeans.cli.answer_file import AnswerFile
from askmeans.cli.data_commands import FitOptions
from askmeans.cli.options import listed
from askmeans.cli.printing import complain, say
from askmeans.cli.tables import check_unused, plain, read_with, write_frame, write_text
from askmeans.driver import Oracle
from askmeans.driver import run as drive
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import AskmeansError, CollapseWarning, ParameterError
from askmeans.fuzzy import weighted_centers
from askmeans.fuzzy.items import ItemSet, as_items
from askmeans.metrics import match_clusters, matched_accuracy
from askmeans.oracles import CallbackOracle, ConsoleOracle, TableOracle
from askmeans.paper import Plan
from askmeans.policy import Policy
from askmeans.queries import Ledger
from askmeans.results import Result, expected_wrong_text, with_names, without_traces
from askmeans.sessions.display import strongest_items, unique_names
from askmeans.sessions.results import expected
from askmeans.sessions.warning_notes import quietly
from askmeans.spec import SIMILARITIES, PlanSpec, default_ask
from askmeans.tables import Recipe, listed_columns
from askmeans.tables.columns import Column
from askmeans.tables.reading import check_column, read_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["run"]

Floats = NDArray[np.float64]

_EXEMPLARS = 10  # of each cluster: more than are shown beside an item
_ENDS = {
    "interrupted": "Stopped before all was asked",
    "budget": "The budget is spent",
    "max_items": "As many items as the strategy allows were asked about",
}


def run(given: FitOptions) -> bool:
    """Read, ask, write; False when somebody interrupted it."""
    if (given.scheduler, given.memory, given.top) != (None, None, None):
        raise ParameterError(
            "--scheduler, --memory and --top must be left out with --engine memory. Got one of "
            "them; use --engine disk, dask or gpu."
        )
    check_number(given.n_clusters, "clusters", "askmeans fit", integer=True, minimum=1)
    ask: Any = given.ask or default_ask(given.strategy)
    options = replace(given, expert=given.expert or "console", ask=ask)
    _spec(options)
    table = read_table(options.data, options.table.id)
    labels = _label_column(options, table.frame)
    unlabelled = table
    if labels is not None:
        unlabelled = replace(table, frame=table.frame.drop(columns=labels))
    # Nobody looks at the items where nobody is asked.
    shown = listed(options.table.show) if options.expert == "console" else []
    items = read_with(options.table, unlabelled, shown)
    columns = list(items.recipe.columns)
    truth = None
    if labels is not None:
        why = "what the expert knows"
        columns.append(Column(name=labels, kind="category", use="left out", why=why))
        truth = table.frame[labels].astype(str).to_numpy()[items.rows]
    ids = items.ids
    names = _cluster_names(options, truth)
    if options.ask not in SIMILARITIES:  # which number clusters in an order of their own
        _name_in_warnings(names)
    files = _Files.of(options)
    files.check(force=options.force, plot=options.plot)
    X = items.features.astype(np.float64)
    check_enough_items(len(X), options.n_clusters, "askmeans fit")
    if not options.as_json:
        say(listed_columns(columns))
    failure = None
    if options.expert == "none":
        summary, memberships = _alone(options, X)
    else:
        held = None
        if truth is None or options.answers is not None:
            held = AnswerFile(options.answers or files.answers, ids, names)
        try:
            result = _ask(
                options, as_items(X, items.blank), _shown(options, items.shown), truth, held
            )
        except AskmeansError as error:
            if error.result is None:
                raise
            result, failure = error.result, error  # what was reached is written all the same
        memberships = _named(options, result.clustering.memberships, truth)
        summary = _account(options, result, truth, X, held)
    centers = weighted_centers(X, memberships, options.fuzzifier)
    _write(files, ids, names, items.recipe, memberships, centers)
    summary["columns"] = [asdict(column) for column in columns]
    summary["files"] = files.written(plot=options.plot)
    if options.plot:
        _draw(files.picture, X, memberships, names)
    write_text(json.dumps(summary, indent=2) + "\n", files.summary)
    _report(options, summary)
    if failure is not None:
        raise failure
    return bool(summary["stopped"] != "interrupted")


def _spec(options: FitOptions) -> PlanSpec:
    """What decides which questions come."""
    names = [field.name for field in fields(PlanSpec)]
    return PlanSpec.checked("askmeans fit", **{name: getattr(options, name) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Where results go."""

    memberships: Path
    centers: Path
    summary: Path
    picture: Path
    answers: Path

    @classmethod
    def of(cls, options: FitOptions) -> "_Files":
        stem = options.out or options.data.with_suffix("")
        return cls(
            memberships=Path(f"{stem}.memberships.csv"),
            centers=Path(f"{stem}.centers.csv"),
            summary=Path(f"{stem}.summary.json"),
            picture=Path(f"{stem}.png"),
            answers=Path(f"{stem}.answers.csv"),
        )

    def check(self, *, force: bool, plot: bool) -> None:
        """Refuse a missing folder, and to overwrite results other than those of a stopped run."""
        files = [self.memberships, self.centers, self.summary] + [self.picture] * plot
        check_unused(files, force=force or self._stopped_before())

    def written(self, *, plot: bool) -> dict[str, str]:
        """Names of what was written."""
        files = {"memberships": self.memberships, "centers": self.centers}
        if plot:
            files["picture"] = self.picture
        return {name: str(path) for name, path in files.items()}

    def _stopped_before(self) -> bool:
        """Whether the results there are those of a run that was stopped."""
        try:
            return json.loads(self.summary.read_text())["stopped"] in ("interrupted", "budget")
        except (OSError, ValueError, KeyError):
            return False


def _label_column(options: FitOptions, frame: "pd.DataFrame") -> str | None:
    """The column that a simulated expert knows."""
    kind, _, column = str(options.expert).partition(":")
    if kind == "labels" and column:
        check_column(frame, column)
        return column
    if options.expert not in ("console", "none"):
        raise ParameterError(
            "The 'expert' parameter of askmeans fit must be 'console', 'labels:COLUMN' or 'none'. "
            f"Got {options.expert!r} instead."
        )
    return None


def _cluster_names(options: FitOptions, truth: NDArray[np.str_] | None) -> list[str]:
    """What the clusters are called: as given, as the classes, or "Group A" and so on."""
    k = options.n_clusters
    names = unique_names({}, k)
    if truth is not None:
        names = sorted(set(truth.tolist()))
        if len(names) != k:
            raise ParameterError(
                f"The 'clusters' parameter of askmeans fit must be {len(names)}, the number of "
                f"classes in {str(options.expert).partition(':')[2]!r}. Got {k} instead."
            )
    given = listed(options.names)
    if given is not None:
        if options.ask in SIMILARITIES:
            raise ParameterError(
                "The 'names' parameter of askmeans fit must be left out with --ask "
                f"{options.ask}. Got {', '.join(given)} instead; similarities do "
                "not tell which cluster is which."
            )
        names = [check_name(name, "names", "askmeans fit") for name in given]
    if len(names) != k or len(set(names)) != k:
        raise ParameterError(
            f"The 'names' parameter of askmeans fit must have {k} names, all different. "
            f"Got {', '.join(names)} instead."
        )
    return names


def _name_in_warnings(names: list[str]) -> None:
    """Let warnings call the clusters what the results call them."""
    show = warnings.showwarning

    def shown(message: Warning | str, *place: Any, **more: Any) -> None:
        show(with_names(str(message), names), *place, **more)

    warnings.showwarning = shown


def _ask(
    options: FitOptions,
    items: ItemSet,
    frame: "pd.DataFrame",
    truth: NDArray[np.str_] | None,
    held: AnswerFile | None,
) -> Result:
    """Let the expert answer what is not known yet."""
    strategy = _spec(options).strategy

    def plan() -> "Plan | Policy":
        return _spec(options).make(items, noisy=True if truth is None else None)  # people are

    ledger = Ledger() if held is None else held.ledger()
    oracle: Oracle
    if truth is not None:
        oracle = TableOracle.from_labels(truth)
    else:
        assert held is not None
        exemplars = None
        if options.names is None and options.ask not in SIMILARITIES:
            # Of the clustering that is asked about: what the plan finds without answers.
            start, _ = quietly(lambda: drive(plan(), CallbackOracle(), budget=0))
            exemplars = strongest_items(start.clustering, items.X, _EXEMPLARS)
        oracle = ConsoleOracle(
            frame,
            cluster_names=held.names,
            exemplars=exemplars,
            ids=held.ids,
            n_questions=_n_questions(options, strategy, items.n, len(ledger.history)),
            levels=options.levels,
            journal=held.append,
            stdout=sys.stderr,
        )
        for answer in ledger.history:
            if answer.cluster is not None and not np.isnan(answer.number):
                oracle.recall(answer.items[0], answer.cluster, answer.number)
            elif isinstance(answer.value, tuple):
                for cluster, share in enumerate(answer.value):
                    oracle.recall(answer.items[0], cluster, share)
        if not sys.stdin.isatty():
            complain("reading answers from standard input.")
    return drive(plan(), oracle, budget=options.budget, ledger=ledger)


def _shown(options: FitOptions, frame: "pd.DataFrame") -> "pd.DataFrame":
    """What a person sees of the items, beside their ids."""
    alone = options.table.id not in frame.columns or len(frame.columns) == 1
    return frame if alone else frame.drop(columns=options.table.id)


def _n_questions(options: FitOptions, strategy: Any, n: int, n_held: int) -> int | None:
    """About how many questions there will be; None where there is no forecast."""
    found = expected(strategy, n, options)
    if found is None:
        return options.budget
    left = max(1, options.repeats * found.n_queries - n_held)
    return left if options.budget is None else min(left, options.budget)


def _named(options: FitOptions, memberships: Floats, truth: NDArray[np.str_] | None) -> Floats:
    """The columns in the order of the names: similarities find clusters in an order of their own.

    A simulated expert's classes are matched to them; a person's clusters have no names yet.
    """
    if truth is None or options.ask not in SIMILARITIES:
        return memberships
    classes = np.unique(truth, return_inverse=True)[1]
    return memberships[:, match_clusters(np.eye(options.n_clusters)[classes], memberships)]


def _account(
    options: FitOptions,
    result: Result,
    truth: NDArray[np.str_] | None,
    X: Floats,
    held: AnswerFile | None,
) -> dict[str, Any]:
    """The summary of a run with questions."""
    summary: dict[str, Any] = {
        "n_items": len(X),
        "n_clusters": options.n_clusters,
        "strategy": options.strategy,
        "ask": options.ask,
        "seed": options.seed,
        "complete": result.complete,
        "stopped": result.clustering.diagnostics.stopped,
        "n_queries": result.n_queries,
        "n_answers_held": len(result.history) - result.n_queries,
        "n_rounds": result.n_rounds,
        "diagnostics": plain(result.clustering.diagnostics.to_dict()),
    }
    if held is not None and held.path.exists():
        summary["answers"] = str(held.path)
    if truth is not None:
        alone = _unsupervised(options, X)
        summary["matched_accuracy"] = matched_accuracy(truth, result.clustering.memberships)
        summary["matched_accuracy_without_questions"] = matched_accuracy(truth, alone)
    return summary


def _alone(options: FitOptions, X: Floats) -> tuple[dict[str, Any], Floats]:
    """The summary of a run without questions, and its memberships."""
    asking = (options.budget, options.answers, options.levels, options.repeats)
    by_default = (options.strategy, options.ask) == ("auto", default_ask("auto"))
    if asking != (None, None, None, 1) or not by_default:
        raise ParameterError(
            "With --expert none nobody is asked: --budget, --repeats, --levels, --answers, "
            "--strategy and --ask must be left out. Got one of them; leave it out, or choose "
            "another --expert."
        )
    memberships = _unsupervised(options, X)
    summary = {
        "n_items": len(X),
        "n_clusters": len(memberships.T),
        "strategy": "none",
        "seed": options.seed,
        "complete": True,
        "stopped": None,
        "n_queries": 0,
        "n_rounds": 0,
    }
    return summary, memberships


def _unsupervised(options: FitOptions, X: Floats) -> Floats:
    """Memberships that FuzzyKMeans finds; the closed form wants more than 1."""
    alpha = max(options.fuzzifier, 1.05)
    model = FuzzyKMeans(options.n_clusters, fuzzifier=alpha, n_init=5, random_state=options.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        try:
            model.fit(X)
        except CollapseWarning:  # as texts and other items of many features make them do
            model.set_params(fuzzifier="auto").fit(X)
            if options.expert == "none":
                complain(
                    f"warning: clusters merge at --fuzzifier {options.fuzzifier:g}; without "
                    f"questions {model.fuzzifier_:.2f} was used."
                )
    found: Floats = model.memberships_.astype(np.float64)
    return found


def _write(
    files: _Files,
    ids: list[str],
    names: list[str],
    recipe: Recipe,
    memberships: Floats,
    centers: Floats,
) -> None:
    """Memberships keyed by id, and centres in the data's own units, as equation (4) has them."""
    import pandas as pd

    table = pd.DataFrame(without_traces(memberships), columns=pd.Index(names))
    table.insert(0, "id" if "id" not in names else "id_", ids)
    write_frame(table, files.memberships)
    middle, width = recipe.units
    features = recipe.feature_names
    table = pd.DataFrame(centers * width + middle, columns=pd.Index(features))
    table.insert(0, "cluster" if "cluster" not in features else "cluster_", names)
    write_frame(table, files.centers)


def _draw(path: Path, X: Floats, memberships: Floats, names: list[str]) -> None:
    """A scatter of the items in their clusters' colours."""
    import matplotlib as mpl

    mpl.use("Agg")
    from askmeans.plotting import SoftScatterDisplay

    points = X[:, :2]
    if X.shape[1] > 2:
        centered = X - X.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    display = SoftScatterDisplay(points, memberships, cluster_names=names).plot()
    figure = display.ax_.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, dpi=120)


def _report(options: FitOptions, summary: dict[str, Any]) -> None:
    """Tell what was done: JSON on standard output, or a few lines."""
    if options.as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
        return
    say(
        f"{summary['n_items']} items, {summary['n_clusters']} clusters, "
        f"{summary['n_queries']} questions, {summary['n_rounds']} rounds."
    )
    if "matched_accuracy" in summary:
        say(
            f"Matched accuracy {summary['matched_accuracy']:.2%}; without questions "
            f"{summary['matched_accuracy_without_questions']:.2%}."
        )
    diagnostics = summary.get("diagnostics", {})
    if diagnostics.get("expected_wrong") is not None:
        wrong, band = diagnostics["expected_wrong"], diagnostics["expected_wrong_band"]
        say(expected_wrong_text(wrong, summary["n_items"], tuple(band)))
    noise = diagnostics.get("noise")
    if noise:
        say(f"Answers seem to be off by {noise:.2f}.")
    if summary["stopped"] in _ENDS:
        more = ""
        if "answers" in summary:
            more = (
                f" Your answers are in {summary['answers']}. Run the same command again to go on."
            )
        say(f"{_ENDS[summary['stopped']]}; this is the best so far.{more}")
    for name, path in summary["files"].items():
        say(f"{name}: {path}")
