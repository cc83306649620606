"""`askmeans fit --engine disk`, `dask` or `gpu`: files beyond memory, clustered unasked."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans._util.progress import passes_bar
from askmeans.cli.options import changed_options, comma_list, refuse_options
from askmeans.cli.output import check_unused, complain, say, write_centers, write_text
from askmeans.cli.start import FitOptions
from askmeans.cli.tables import workers
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import DataError
from askmeans.fuzzy.arrays import even_rows
from askmeans.fuzzy.engines.cuda import check_gpu
from askmeans.fuzzy.engines.disk import DEFAULT_MEMORY, as_bytes, columns_of, open_disk
from askmeans.tables.encoders import Scaling

_USED = frozenset({"engine", "scheduler", "memory", "top", "out", "force", "as_json", "features",
                   "metric", "scale", "fuzzifier", "seed"})  # fmt: skip
_SAMPLE = 20_000  # rows that scaling and filling in are learnt from


@dataclass(frozen=True, slots=True)
class Scaled:
    """Blocks of numbers made comparable, one column at a time, gaps filled in."""

    scalings: tuple[Scaling, ...]

    def __call__(self, items: NDArray[np.floating]) -> NDArray[np.floating]:
        """The block in its float type."""
        columns = zip(self.scalings, items.T, strict=True)
        scaled = [scaling(np.asarray(column, np.float64)) for scaling, column in columns]
        return np.hstack(scaled).astype(items.dtype)


def run_large(options: FitOptions) -> None:
    """Cluster the rows of a file a block at a time; write memberships, centres and a summary."""
    _check(options)
    memory = as_bytes(options.memory or DEFAULT_MEMORY, "askmeans fit")
    cluster = workers(options.engine, options.scheduler, memory=memory)
    stem = options.out or options.data.with_suffix("")
    files = {name: Path(f"{stem}.{name}") for name in
             ("memberships.parquet", "centers.csv", "summary.json")}  # fmt: skip
    check_unused(list(files.values()), force=options.force)
    names, left_out = _columns(options)
    with cluster, passes_bar():
        engine = _opened(options, names, memory)
        scalings = _scalings(engine, names, options.table.scale)
        engine = engine.prepared(Scaled(scalings))
        model = FuzzyKMeans(
            options.n_clusters,
            fuzzifier=options.questions.fuzzifier,
            metric=options.table.metric,
            device="cuda" if options.engine == "gpu" else None,
            random_state=options.questions.seed,
        ).fit(engine)
        model.write_memberships(files["memberships.parquet"], top=options.top)
    width, middle = np.array([(scaling.width, scaling.middle) for scaling in scalings]).T
    clusters = [f"cluster_{j}" for j in range(options.n_clusters)]
    centers = model.cluster_centers_ * width + middle
    write_centers(centers, clusters, names, files["centers.csv"])
    summary = {
        "n_items": engine.n_rows,
        "n_clusters": options.n_clusters,
        "engine": options.engine,
        "seed": options.questions.seed,
        "n_iter": model.n_iter_,
        "objective": model.objective_,
        "features": names,
        "left_out": left_out,
        "files": {name.partition(".")[0]: str(path) for name, path in files.items()},
    }
    write_text(json.dumps(summary, indent=2) + "\n", files["summary.json"])
    if options.as_json:
        say(json.dumps(summary))
        return
    if left_out:
        complain(f"left out, no numbers: {', '.join(left_out)}.")
    say(f"{engine.n_rows} items, {options.n_clusters} clusters, {model.n_iter_} iterations.")
    for path in files.values():
        say(str(path))


def _check(options: FitOptions) -> None:
    """Refuse what this engine has no use for."""
    wrong = [name for name in changed_options(options) if name not in _USED]
    if options.expert == "none":
        wrong.remove("expert")
    refuse_options(
        wrong,
        f"with --engine {options.engine}: columns of numbers are clustered, and nobody is asked "
        "(askmeans init and predict, or ActiveFuzzyKMeans, ask about such data)",
    )
    check_number(options.n_clusters, "clusters", "askmeans fit", integer=True, minimum=1)
    if options.engine == "gpu":
        check_gpu()
    if options.engine == "dask" and options.data.suffix == ".npy":
        raise DataError(
            "The data of --engine dask must be Parquet, which workers read by parts. Got "
            f"{options.data}; use --engine disk."
        )


def _columns(options: FitOptions) -> tuple[list[str], list[str]]:
    """The columns to cluster by, and those that are left out."""
    numbers, others = columns_of(options.data)
    if options.table.features is None:
        if not numbers:
            raise DataError(f"{options.data} must have columns of numbers. Got none.")
        return numbers, others
    chosen = comma_list(options.table.features) or []
    wrong = [name for name in chosen if name not in numbers]
    if wrong:
        raise DataError(
            f"--features must be columns of numbers in {options.data}. Got {', '.join(wrong)} "
            f"instead; there are {', '.join(numbers[:20])}."
        )
    return chosen, [name for name in (*numbers, *others) if name not in chosen]


def _opened(options: FitOptions, names: list[str], memory: int) -> Any:
    """The engine of the file."""
    if options.engine != "dask":
        return open_disk(options.data, memory=memory, columns=names)
    from askmeans.fuzzy.engines.dask import open_with_dask

    return open_with_dask(options.data, columns=names, memory=memory)


def _scalings(engine: Any, names: list[str], how: str) -> tuple[Scaling, ...]:
    """How each column is made comparable, from a sample of rows."""
    sample = engine.take(even_rows(engine.n_rows, _SAMPLE))[0].astype(np.float64)
    pairs = zip(names, sample.T, strict=True)
    return tuple(Scaling.fit(column, name, how) for name, column in pairs)
