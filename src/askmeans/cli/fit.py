"""`askmeans fit`: a data file in; memberships, centres and a summary out."""

import json
import sys
import warnings
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans import sessions
from askmeans._util.checks import check_enough_items, check_name, check_number
from askmeans._util.text import printable
from askmeans.cli.answer_files import AnswerLog, read_answers
from askmeans.cli.options import comma_list
from askmeans.cli.output import complain, plain, say
from askmeans.cli.questions import Conversation
from askmeans.cli.start import FitOptions
from askmeans.cli.tables import check_unused, read_with, write_frames, write_text
from askmeans.driver import Oracle
from askmeans.driver import run as drive
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import AskmeansError, CollapseWarning, ParameterError
from askmeans.fuzzy import weighted_centers
from askmeans.fuzzy.items import as_items
from askmeans.metrics import match_clusters, matched_accuracy
from askmeans.oracles import CallbackOracle, ConsoleOracle, TableOracle
from askmeans.paper import Plan
from askmeans.policy import Policy
from askmeans.queries import ME, Answer, Answers
from askmeans.results import Result, expected_wrong_text, with_names, without_traces
from askmeans.sessions import Session, SessionState
from askmeans.sessions.display import strongest_items, unique_names
from askmeans.sessions.results import expected
from askmeans.sessions.warning_notes import quietly
from askmeans.spec import SIMILARITIES, PlanSpec, default_ask
from askmeans.strategies import Stratified
from askmeans.tables import Column, Items, listed_columns
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A fit: its options, what decides the questions, the items and the names of the clusters."""

    options: FitOptions
    spec: PlanSpec
    items: Items
    X: Floats
    names: list[str]
    truth: NDArray[np.str_] | None  # the simulated expert's labels
    files: "_Files"

    def known_answers(self) -> list[Answer]:
        """The answers of --answers."""
        path = self.options.answers
        return [] if path is None else read_answers(path, self.items.ids, self.names)

    def unsupervised(self) -> Floats:
        """Memberships of FuzzyKMeans; the closed form needs a fuzzifier above 1."""
        options = self.options
        alpha, seed = max(options.questions.fuzzifier, 1.05), options.questions.seed
        model = FuzzyKMeans(options.n_clusters, fuzzifier=alpha, n_init=5, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CollapseWarning)
            try:
                model.fit(self.X)
            except CollapseWarning:  # as texts and other items of many features make them do
                model.set_params(fuzzifier="auto").fit(self.X)
                if options.expert == "none":
                    complain(
                        f"warning: clusters merge at --fuzzifier {options.questions.fuzzifier:g}; "
                        f"without questions {model.fuzzifier_:.2f} was used."
                    )
        memberships: Floats = model.memberships_.astype(np.float64)
        return memberships


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """Memberships, the clusters' names, and the summary of how they came about."""

    memberships: Floats
    names: list[str]
    summary: dict[str, Any]
    failure: AskmeansError | None = None


def run(options: FitOptions) -> bool:
    """Read, ask, write; False when the person interrupted it."""
    if (options.scheduler, options.memory, options.top) != (None, None, None):
        raise ParameterError(
            "--scheduler, --memory and --top must be left out with --engine memory. Got one of "
            "them; use --engine disk, dask or gpu."
        )
    job, columns = _prepared(replace(options, expert=options.expert or "console"))
    if not options.as_json:
        say(listed_columns(columns))
    if job.options.expert == "none":
        outcome = _without_questions(job)
    elif job.truth is None and isinstance(job.spec.strategy, Stratified) and options.repeats == 1:
        outcome = _in_session(job)
    else:
        outcome = _by_plan(job)
    centers = weighted_centers(job.X, outcome.memberships, job.spec.fuzzifier)
    _write(job, outcome, centers)
    summary = outcome.summary
    summary["columns"] = [asdict(column) for column in columns]
    summary["files"] = job.files.written(plot=options.plot)
    if options.plot:
        _draw(job.files.picture, job.X, outcome)
    write_text(json.dumps(summary, indent=2) + "\n", job.files.summary)
    _report(options, summary)
    if outcome.failure is not None:
        raise outcome.failure
    return bool(summary["stopped"] != "interrupted")


def _prepared(options: FitOptions) -> tuple[_Job, list[Column]]:
    """The job, with all that can be refused refused, and what becomes of the columns."""
    check_number(options.n_clusters, "clusters", "askmeans fit", integer=True, minimum=1)
    questions = options.questions
    values = {field.name: getattr(questions, field.name, None) for field in fields(PlanSpec)}
    values |= {"n_clusters": options.n_clusters, "repeats": options.repeats}
    values["ask"] = questions.ask or default_ask(questions.strategy)
    spec = PlanSpec.checked("askmeans fit", **values)
    table = read_table(options.data, options.table.id)
    labels = _label_column(options, table.frame)
    unlabelled = table
    if labels is not None:
        unlabelled = replace(table, frame=table.frame.drop(columns=labels))
    # Nobody looks at the items where nobody is asked.
    shown = comma_list(options.table.show) if options.expert == "console" else []
    items = read_with(options.table, unlabelled, shown)
    columns = list(items.recipe.columns)
    truth = None
    if labels is not None:
        why = "what the expert knows"
        columns.append(Column(name=labels, kind="category", use="left out", why=why))
        truth = table.frame[labels].astype(str).to_numpy()[items.rows]
    names = _cluster_names(options, spec, truth)
    if spec.ask not in SIMILARITIES:  # which number clusters in an order of their own
        _name_in_warnings(names)
    files = _Files.of(options)
    files.check(force=options.force, plot=options.plot)
    X = items.features.astype(np.float64)
    check_enough_items(len(X), options.n_clusters, "askmeans fit")
    job = _Job(options=options, spec=spec, items=items, X=X, names=names, truth=truth, files=files)
    return job, columns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Where results go."""

    memberships: Path
    centers: Path
    summary: Path
    picture: Path
    answers: Path  # to a plan
    session: Path

    @classmethod
    def of(cls, options: FitOptions) -> "_Files":
        stem = options.out or options.data.with_suffix("")
        return cls(
            memberships=Path(f"{stem}.memberships.csv"),
            centers=Path(f"{stem}.centers.csv"),
            summary=Path(f"{stem}.summary.json"),
            picture=Path(f"{stem}.png"),
            answers=Path(f"{stem}.answers.csv"),
            session=Path(f"{stem}.session.db"),
        )

    def check(self, *, force: bool, plot: bool) -> None:
        """Refuse a missing folder, and to overwrite results other than those of a stopped run."""
        files = [self.memberships, self.centers, self.summary] + [self.picture] * plot
        check_unused(files, force=force or self._stopped_before())

    def written(self, *, plot: bool) -> dict[str, str]:
        """Names of the files of results."""
        files = {"memberships": self.memberships, "centers": self.centers}
        if plot:
            files["picture"] = self.picture
        return {name: str(path) for name, path in files.items()}

    def _stopped_before(self) -> bool:
        """Whether the existing results are those of a run that was stopped."""
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


def _cluster_names(
    options: FitOptions, spec: PlanSpec, truth: NDArray[np.str_] | None
) -> list[str]:
    """Names of the clusters: those of --names, the classes, or "Group A" and so on."""
    k = options.n_clusters
    names = unique_names({}, k)
    if truth is not None:
        names = sorted(set(truth.tolist()))
        if len(names) != k:
            raise ParameterError(
                f"The 'clusters' parameter of askmeans fit must be {len(names)}, the number of "
                f"classes in {str(options.expert).partition(':')[2]!r}. Got {k} instead."
            )
    chosen = comma_list(options.questions.names)
    if chosen is not None:
        if spec.ask in SIMILARITIES:
            raise ParameterError(
                "The 'names' parameter of askmeans fit must be left out with --ask "
                f"{spec.ask}. Got {', '.join(chosen)} instead; similarities do "
                "not tell which cluster is which."
            )
        names = [check_name(name, "names", "askmeans fit") for name in chosen]
    if len(names) != k or len(set(names)) != k:
        raise ParameterError(
            f"The 'names' parameter of askmeans fit must have {k} names, all different. "
            f"Got {', '.join(names)} instead."
        )
    return names


def _name_in_warnings(names: list[str]) -> None:
    """Let warnings call the clusters what the results call them."""
    show = warnings.showwarning

    def with_cluster_names(message: Warning | str, *place: Any, **more: Any) -> None:
        show(with_names(str(message), names), *place, **more)

    warnings.showwarning = with_cluster_names


def _without_questions(job: _Job) -> _Outcome:
    """A fit without an expert."""
    options, questions = job.options, job.options.questions
    asking = (questions.budget, options.answers, questions.levels, options.repeats)
    by_default = (questions.strategy, job.spec.ask) == ("auto", default_ask("auto"))
    if asking != (None, None, None, 1) or not by_default:
        raise ParameterError(
            "With --expert none nobody is asked: --budget, --repeats, --levels, --answers, "
            "--strategy and --ask must be left out. Got one of them; leave it out, or choose "
            "another --expert."
        )
    memberships = job.unsupervised()
    summary = {
        "n_items": len(job.X),
        "n_clusters": options.n_clusters,
        "strategy": "none",
        "seed": questions.seed,
        "complete": True,
        "stopped": None,
        "n_queries": 0,
        "n_rounds": 0,
    }
    return _Outcome(memberships=memberships, names=job.names, summary=summary)


def _in_session(job: _Job) -> _Outcome:
    """A fit with a person, who answers in a session beside the data; it goes on with an old one."""
    questions, path = job.options.questions, job.files.session
    known = job.known_answers()
    with _opened(job) as session:
        if known:
            session.take_in(known)
        if questions.budget not in (None, session.status().budget):
            session.set_budget(questions.budget)
        finished = Conversation(session, ME, _to_stderr).run(until_settled=True)
        result, status = session.result(), session.status()
        stopped = result.clustering.diagnostics.stopped
        if not finished:
            stopped = "interrupted"
        elif status.state is SessionState.SPENT:
            stopped = "budget"
        summary = _summary(job) | {
            "n_clusters": len(result.cluster_names),
            "complete": finished and status.state is not SessionState.SPENT,
            "stopped": stopped,
            "n_queries": status.answered,
            "n_answers_held": status.held,
            "n_rounds": result.n_rounds,
            "diagnostics": plain(result.clustering.diagnostics.to_dict()),
            "answers": str(path),
        }
        return _Outcome(
            memberships=result.memberships, names=list(result.cluster_names), summary=summary
        )


def _opened(job: _Job) -> Session:
    """The session beside the data, new or from an earlier run of the same command."""
    path, spec, questions = job.files.session, job.spec, job.options.questions
    names = comma_list(questions.names)
    if not path.exists():
        return sessions.create(
            path, job.items, n_clusters=spec.n_clusters, cluster_names=names, ask=spec.ask,
            strategy=spec.strategy, budget=spec.budget, levels=spec.levels,
            fuzzifier=spec.fuzzifier, random_state=spec.seed,
        )  # fmt: skip
    session = sessions.open(path, X=job.items.features)
    before = session.config.spec()
    options = {"-k": "n_clusters", "--ask": "ask", "--strategy": "strategy", "--seed": "seed",
               "--levels": "levels", "--fuzzifier": "fuzzifier"}  # fmt: skip
    others = [
        word for word, name in options.items() if getattr(before, name) != getattr(spec, name)
    ]
    if names != session.config.cluster_names:
        others.append("--names")
    if job.items.ids != session.rows.ids()[: len(job.items.ids)]:
        others.append("--id")
    if others:
        session.close()
        raise ParameterError(
            f"{path} must belong to the same command, to go on with its answers. Got another "
            f"{', '.join(others)}; use the same, or another --out."
        )
    return session


def _by_plan(job: _Job) -> _Outcome:
    """A fit with a simulated expert, or with a person and a strategy of the paper.

    A person's answers are written to a file as they come, and the plan is run over them again.
    """
    failure = None
    known = job.known_answers()
    oracle: Oracle
    log = None
    if job.truth is not None:
        oracle = TableOracle.from_labels(job.truth)
    else:
        log = AnswerLog(job.files.answers, job.items.ids, job.names)
        known = list({answer.question: answer for answer in [*known, *log.answers()]}.values())
        oracle = _console(job, log, known)
    ledger = Answers.of(known, job.spec.n_clusters).ledger()
    try:
        result = drive(_plan(job), oracle, budget=job.spec.budget, ledger=ledger)
    except AskmeansError as error:
        if error.result is None:
            raise
        result, failure = error.result, error  # what was reached is written all the same
    return _Outcome(
        memberships=_matched(job, result.clustering.memberships),
        names=job.names,
        summary=_plan_summary(job, result, log),
        failure=failure,
    )


def _plan(job: _Job) -> "Plan | Policy":
    """The plan or policy, from its beginning."""
    noisy = True if job.truth is None else None  # people are
    return job.spec.make(as_items(job.X, job.items.blank), noisy=noisy)


def _console(job: _Job, log: AnswerLog, known: list[Answer]) -> ConsoleOracle:
    """The person at the terminal, who is shown what was answered before."""
    options, items = job.options, job.items
    exemplars = None
    if options.questions.names is None and job.spec.ask not in SIMILARITIES:
        # Of the clustering that is asked about: that of the plan without answers.
        start, _ = quietly(lambda: drive(_plan(job), CallbackOracle(), budget=0))
        exemplars = strongest_items(start.clustering, job.X, _EXEMPLARS)
    frame = items.shown
    if options.table.id in frame.columns and len(frame.columns) > 1:
        frame = frame.drop(columns=options.table.id)  # it is shown beside each item
    oracle = ConsoleOracle(
        frame,
        cluster_names=job.names,
        exemplars=exemplars,
        ids=items.ids,
        n_questions=_n_questions(job, len(known)),
        levels=job.spec.levels,
        journal=log.append,
        stdout=sys.stderr,
    )
    for answer in known:
        if answer.cluster is not None and not np.isnan(answer.number):
            oracle.recall(answer.items[0], answer.cluster, answer.number)
        elif isinstance(answer.value, tuple):
            for cluster, share in enumerate(answer.value):
                oracle.recall(answer.items[0], cluster, share)
    if not sys.stdin.isatty():
        complain("reading answers from standard input.")
    return oracle


def _n_questions(job: _Job, n_known: int) -> int | None:
    """About how many questions there will be; None where there is no forecast."""
    budget, forecast = job.spec.budget, expected(job.spec.strategy, len(job.X), job.spec)
    if forecast is None:
        return budget
    left = max(1, job.spec.repeats * forecast.n_queries - n_known)
    return left if budget is None else min(left, budget)


def _matched(job: _Job, memberships: Floats) -> Floats:
    """The columns in the order of the names: similarities find clusters in an order of their own.

    A simulated expert's classes are matched to them; a person's clusters have no names yet.
    """
    if job.truth is None or job.spec.ask not in SIMILARITIES:
        return memberships
    classes = np.unique(job.truth, return_inverse=True)[1]
    return memberships[:, match_clusters(np.eye(job.spec.n_clusters)[classes], memberships)]


def _summary(job: _Job) -> dict[str, Any]:
    """What every summary of a run with questions begins with."""
    return {
        "n_items": len(job.X),
        "n_clusters": job.spec.n_clusters,
        "strategy": job.options.questions.strategy,
        "ask": job.spec.ask,
        "seed": job.spec.seed,
    }


def _plan_summary(job: _Job, result: Result, log: AnswerLog | None) -> dict[str, Any]:
    """The summary of a run by a driver."""
    summary = _summary(job) | {
        "complete": result.complete,
        "stopped": result.clustering.diagnostics.stopped,
        "n_queries": result.n_queries,
        "n_answers_held": len(result.history) - result.n_queries,
        "n_rounds": result.n_rounds,
        "diagnostics": plain(result.clustering.diagnostics.to_dict()),
    }
    if log is not None and log.path.exists():
        summary["answers"] = str(log.path)
    if job.truth is not None:
        memberships = result.clustering.memberships
        summary["matched_accuracy"] = matched_accuracy(job.truth, memberships)
        summary["matched_accuracy_without_questions"] = matched_accuracy(
            job.truth, job.unsupervised()
        )
    return summary


def _write(job: _Job, outcome: _Outcome, centers: Floats) -> None:
    """Memberships keyed by id, and centres in the data's own units, as equation (4) has them."""
    import pandas as pd

    names, recipe = outcome.names, job.items.recipe
    table = pd.DataFrame(without_traces(outcome.memberships), columns=pd.Index(names))
    table.insert(0, "id" if "id" not in names else "id_", job.items.ids)
    write_frames([table], job.files.memberships)
    middle, width = recipe.units
    features = recipe.feature_names
    table = pd.DataFrame(centers * width + middle, columns=pd.Index(features))
    table.insert(0, "cluster" if "cluster" not in features else "cluster_", names)
    write_frames([table], job.files.centers)


def _draw(path: Path, X: Floats, outcome: _Outcome) -> None:
    """A scatter of the items in their clusters' colours."""
    import matplotlib as mpl

    mpl.use("Agg")
    from askmeans.plotting import SoftScatterDisplay

    points = X[:, :2]
    if X.shape[1] > 2:
        centered = X - X.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    display = SoftScatterDisplay(points, outcome.memberships, cluster_names=outcome.names).plot()
    figure = display.ax_.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, dpi=120)


def _to_stderr(text: str) -> None:
    """Text for the person, beside the results on standard output."""
    sys.stderr.write(printable(text))
    sys.stderr.flush()


def _report(options: FitOptions, summary: dict[str, Any]) -> None:
    """Print the summary: JSON on standard output, or a few lines."""
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
