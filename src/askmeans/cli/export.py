"""`askmeans export`: memberships, centres and answers so far, keyed by the user's ids."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from askmeans.cli.sessions import opened, say, show_json
from askmeans.cli.tables import write_text
from askmeans.exceptions import DataError
from askmeans.sessions import Session, SessionResult
from askmeans.sessions.store import file_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["run"]


def run(
    database: str, name: str | None, out: Path | None, format: str, *, force: bool, as_json: bool  # noqa: A002 - the option's name
) -> None:  # fmt: skip
    """Write the result so far."""
    with closing(opened(database, name, as_json=as_json)) as session:
        stem = out or file_of(database).with_suffix("")
        if name is not None and out is None:
            stem = stem.with_name(f"{stem.name}-{name}")
        files = _files(stem, format)
        _check(list(files.values()), force=force)
        result = session.result()
        tables = {
            "memberships": _memberships(result),
            "centers": _centers(session, result),
            "answers": _answers(session),
        }
        if format == "json":
            whole = {key: json.loads(t.to_json(orient="records")) for key, t in tables.items()}
            account = {"complete": result.complete, "state": str(result.state)}
            write_text(json.dumps({**account, **whole}, indent=1) + "\n", files["all"])
        else:
            for key, table in tables.items():
                _write(table, files[key])
        if as_json:
            paths = {key: str(path.absolute()) for key, path in files.items()}
            show_json(session, {"complete": result.complete, "files": paths})
            return
        say(
            f"{len(result.memberships)} items, {result.n_queries} answers; {result.state}, "
            f"{result.missing.low} to {result.missing.high} questions left."
        )
        for key, path in files.items():
            say(f"{key}: {path.absolute()}")


def _files(stem: Path, format: str) -> dict[str, Path]:  # noqa: A002 - the option's name
    """Where the tables go."""
    if format == "json":
        return {"all": Path(f"{stem}.json")}
    return {key: Path(f"{stem}.{key}.{format}") for key in ("memberships", "centers", "answers")}


def _check(files: list[Path], *, force: bool) -> None:
    """Refuse a missing folder, and to overwrite."""
    if not files[0].absolute().parent.is_dir():
        raise DataError(
            f"{files[0].parent} must be a folder for the results. Got none; make it first, or use "
            "another --out."
        )
    there = [path for path in files if path.exists()]
    if there and not force:
        raise DataError(
            f"{there[0]} must not exist yet, or it would be overwritten. Got a file there; use "
            "--out for another place, or --force."
        )


def _memberships(result: SessionResult) -> "pd.DataFrame":
    """One row an item."""
    import pandas as pd

    names = list(result.cluster_names)
    table = pd.DataFrame(result.memberships, columns=pd.Index(names))
    table.insert(0, "id" if "id" not in names else "id_", list(result.ids))
    return table


def _centers(session: Session, result: SessionResult) -> "pd.DataFrame":
    """One row a cluster, in the data's own units."""
    import pandas as pd

    centers = result.clustering.centers
    if session.config.units is not None:
        middle, width = np.array(session.config.units)
        centers = centers * width + middle
    features = session.config.feature_names or [f"x{j}" for j in range(centers.shape[1])]
    table = pd.DataFrame(centers, columns=pd.Index(features))
    table.insert(0, "cluster" if "cluster" not in features else "cluster_", result.cluster_names)
    return table


def _answers(session: Session) -> "pd.DataFrame":
    """One row an answer that stands, in the form that `askmeans import` and `fit` read."""
    import pandas as pd

    ids = session.rows.ids()
    named = session.config.cluster_names is not None
    rows = []
    for receipt in session.history():
        if receipt.kind == "skip":
            continue
        assert receipt.question is not None
        question = session.question(receipt.question)
        cluster = question.cluster
        items = [ids[row] for row in question.items]
        rows.append(
            {
                "kind": question.kind,
                **dict.fromkeys(("item", "item_2", "item_3"), ""),
                **dict(zip(("item", "item_2", "item_3"), items, strict=False)),
                "cluster": "" if cluster is None else str(cluster),
                "cluster_name": session.cluster_names[cluster] if named and cluster is not None
                else "",
                "clusters": str(session.config.n_clusters),
                "repeat": question.repeat,
                "value": receipt.value,
                "note": "cannot say" if receipt.value is None else "",
                "question": question.id,
                "annotator": receipt.annotator,
                "late": receipt.late,
                "at": receipt.at,
            }
        )  # fmt: skip
    columns = ["kind", "item", "item_2", "item_3", "cluster", "cluster_name", "clusters", "repeat",
               "value", "note", "question", "annotator", "late", "at"]  # fmt: skip
    return pd.DataFrame(rows, columns=pd.Index(columns))


def _write(table: "pd.DataFrame", path: Path) -> None:
    """A CSV or Parquet file; a crash leaves the old one or the new one."""
    if path.suffix == ".csv":
        write_text(table.to_csv(index=False), path)
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    table.to_parquet(part, index=False)
    part.replace(path)
