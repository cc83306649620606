"""New projects: a file is read, a person says what its columns and groups are, a session is made.

Rules of this file:
- A draft is a hidden, private folder beside the projects. Whatever becomes of it, the folder goes.
- A project appears at once, complete: its database is made in that folder, and then moved.
- No file that exists is replaced, nor joined by a new one that SQLite would read with it.
- One file is read, or one project made, at a time.
"""

import io
import logging
import math
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from askmeans import sessions
from askmeans._util.background import background_pool
from askmeans._util.message import Message, joined, listed, plural_message
from askmeans._util.progress import reporting_progress
from askmeans.exceptions import AskmeansError
from askmeans.tables import Items, read_items
from askmeans.tables.columns import Roles, describe_columns
from askmeans.tables.large import read_candidates
from askmeans.tables.pictures import open_picture
from askmeans.tables.reading import RawTable, read_table
from askmeans.web.draft_columns import (
    SAMPLES,
    DraftColumn,
    described_column,
    names_items,
    own_kind,
    possible_kinds,
)
from askmeans.web.errors import RefusalError, explain
from askmeans.web.uploads import unpack_pictures

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger("askmeans.web")

_SMALL = 240  # pixels of a picture among the first rows: twice its size, for fine screens
MOST_COLUMNS = 60  # that can be changed; others stay as they were found
_MOST_DRAFTS = 8
_PREFIX = ".askmeans-new-"
_IDLE = 24 * 3600.0  # seconds after which a draft that nobody finished is removed
_LINES = "lines.txt"  # as `read_upload` calls texts that were pasted
_SEED = 0  # as of `askmeans init`


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The choices of a person: the project's name, its groups, and the use of columns."""

    title: str
    n_clusters: int
    names: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    uses: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)


class Draft:
    """A project that is being made."""

    def __init__(self, folder: Path) -> None:
        self.id = folder.name.removeprefix(_PREFIX)
        self.folder = folder
        self.at = time.time()
        self.data = folder  # the file, or the folder with pictures
        self.title = ""
        self.stage: str | None = Message(
            "Waiting"
        )  # what is being done; None where it is a person's turn
        self.share: float | None = None  # of it that is done, where that is known
        self._began = time.monotonic()
        self.trouble = ""  # what went wrong, in a sentence
        self.columns: list[DraftColumn] = []
        self.pictures: list[str] = []  # the first ones, where it is a folder of pictures
        self.plan: Plan | None = None
        self.n_rows = 0
        self.notes: list[str] = []
        self.made: Path | None = None  # the database, in the end

    @property
    def is_read(self) -> bool:
        """Whether its columns are known."""
        return bool(self.columns)

    @property
    def seconds_left(self) -> int | None:
        """About how long the present stage still takes, if that is known."""
        share = self.share
        if not share:
            return None
        return math.ceil((time.monotonic() - self._began) * (1.0 - share) / share)

    def _begin(self, stage: str) -> None:
        """Begin a stage of the work."""
        self.stage, self.share, self._began = stage, None, time.monotonic()

    def _report(self, share: float) -> None:
        """Note the share of the present stage that is done."""
        self.share = share

    def read(self, file: Path) -> None:
        """Read the file, and describe its columns."""
        self._begin(Message("Reading the file"))
        self.title = Message("Pasted texts") if file.name == _LINES else _as_title(file.stem)
        self.data = file
        if file.suffix.lower() == ".zip":
            self._begin(Message("Unpacking the pictures"))
            self.data = self.folder / "pictures"
            unpack_pictures(file, self.data)
            file.unlink()
        table, _ = self._table(None)
        roles = Roles(text=("text",)) if self._has_lines else Roles()
        columns = describe_columns(table.frame, roles, table.folder)
        if not any(possible_kinds(column) for column in columns):
            raise RefusalError(
                Message("There is no column to sort by: no texts, numbers or pictures.")
            )
        id_name = next((c.name for c in columns if names_items(c, table)), None)
        self.columns = [described_column(column, table, id_name) for column in columns]
        if self.data.is_dir():
            self.pictures = [str(name) for name in table.frame["image"].head(SAMPLES)]
        self.n_rows, self.notes = len(table.frame), table.notes

    def picture(self, number: int) -> bytes:
        """A thumbnail of one of its first pictures, as JPEG."""
        file = io.BytesIO()
        open_picture(self.pictures[number], self.data, _SMALL).save(file, "JPEG")
        return file.getvalue()

    def make(self, plan: Plan, home: Path) -> None:
        """Make the project in a folder, or change nothing."""
        self.plan = plan
        file = home / f"{file_stem(plan.title)}.db"
        _check_free(file, plan.title)
        self._begin(Message("Reading the file"))
        items = self._items(plan)
        if plan.n_clusters > len(items.ids):
            raise RefusalError(
                plural_message(
                    "There is {n} item, so there cannot be {n_clusters} groups. Name fewer.",
                    "There are {n} items, so there cannot be {n_clusters} groups. Name fewer.",
                    len(items.ids),
                    n_clusters=plan.n_clusters,
                )
            )
        self._begin(
            plural_message(
                "Finding groups among {n} item", "Finding groups among {n} items", len(items.ids)
            )
        )
        if items.folder is not None:
            items = replace(items, folder=_pictures_of(file))
        with TemporaryDirectory(dir=self.folder) as folder:
            part = Path(folder) / file.name
            sessions.create(
                part, items, n_clusters=plan.n_clusters, cluster_names=plan.names or None,
                descriptions=plan.descriptions if any(plan.descriptions) else None,
                random_state=_SEED, name=plan.title,
            ).close()  # fmt: skip
            self._publish(part, file, plan.title)
        self.made = file

    def _publish(self, part: Path, file: Path, title: str) -> None:
        """Move a database and its pictures to where projects are; both, or neither."""
        _check_free(file, title)  # again: minutes have passed
        pictures = _pictures_of(file)
        moved = self.data.is_dir()
        if moved:
            self.data.rename(pictures)
        try:
            os.link(part, file)  # a rename would replace a file
        except BaseException as error:
            if moved:
                pictures.rename(self.data)
            if isinstance(error, FileExistsError):
                raise _taken(title) from error
            raise

    @property
    def _has_lines(self) -> bool:
        """Whether the file is a list of texts, one per line."""
        return self.data.name == _LINES

    def _table(self, id_column: str | None) -> tuple[RawTable, str | None]:
        """The rows, and the column of their ids; image paths must be files of the upload."""
        if self._has_lines:
            lines = self.data.read_text(encoding="utf-8", errors="replace").splitlines()
            return read_table([line.strip() for line in lines if line.strip()]), None
        table, id_column = read_candidates(self.data, id_column, _SEED)
        is_folder = self.data.is_dir()
        frame = table.frame if is_folder else _without_paths(table.frame)
        folder = self.data if is_folder else None
        return RawTable(
            frame=frame, folder=folder, notes=table.notes, written=table.written
        ), id_column

    def _items(self, plan: Plan) -> Items:
        """The items by the choices of the plan."""
        own = {each.column.name: each for each in self.columns}
        uses = {name: plan.uses.get(name, each.use) for name, each in own.items()}
        ids = [name for name, use in uses.items() if use == "id"]
        features = [name for name, use in uses.items() if use == "feature"]
        if len(ids) > 1:
            raise RefusalError(
                Message(
                    "One column is the name of the item, not {columns}. Choose one.",
                    columns=listed(ids[:3]),
                )
            )
        if plan.n_clusters < 1:
            raise RefusalError(Message("Name the groups, or say how many to find."))
        if not features:
            raise RefusalError(
                Message("Choose at least one column to sort by: a text, a number or a picture.")
            )
        vectors = [name for name in features if own[name].column.kind == "vector"]
        if len(vectors) > 1:
            raise RefusalError(
                Message(
                    "One column of vectors at most. Choose one of these: {columns}.",
                    columns=joined(vectors[:3]),
                )
            )
        table, id_column = self._table(ids[0] if ids else None)
        self._begin(plural_message("Encoding {n} row", "Encoding {n} rows", len(table.frame)))
        with reporting_progress(self._report):
            return read_items(
                table, id=id_column, vectors=vectors[0] if vectors else None,
                show=[name for name, use in uses.items() if use in ("feature", "shown")],
                features={name: plan.kinds.get(name) or own_kind(own[name].column)
                          for name in features if name not in vectors},
            )  # fmt: skip


class Drafts:
    """The drafts of a folder with projects."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._drafts: dict[str, Draft] = {}
        self._pool = background_pool(1, "projects")
        for left in home.glob(f"{_PREFIX}*"):  # by a server that was killed
            if left.is_dir() and left.stat().st_mtime < time.time() - _IDLE:
                shutil.rmtree(left, ignore_errors=True)

    def new(self) -> Draft:
        """Make an empty draft; if there are many, the oldest are removed."""
        with self._lock:
            waiting = [each for each in self._drafts.values() if each.stage is None]
            n_old = sum(each.at < time.time() - _IDLE for each in waiting)  # they come first
            for each in waiting[: max(n_old, len(self._drafts) + 1 - _MOST_DRAFTS)]:
                self._drop(each)
            if len(self._drafts) >= _MOST_DRAFTS:
                raise RefusalError(
                    Message("Several files are being read already. Wait for one of them.")
                )
            folder = self._home / f"{_PREFIX}{secrets.token_hex(8)}"
            folder.mkdir(mode=0o700)
            draft = Draft(folder)
            self._drafts[draft.id] = draft
            return draft

    def get(self, number: str) -> Draft | None:
        """The draft of this number."""
        return self._drafts.get(number)

    def read(self, draft: Draft, file: Path) -> None:
        """Read a draft's file in the background."""
        with self._lock:
            self._start(draft, lambda: draft.read(file))

    def make(self, draft: Draft, plan: Plan) -> None:
        """Make a draft's project in the background, unless it is in use or was made."""
        with self._lock:
            if draft.stage is None and draft.is_read and not draft.made and self.get(draft.id):
                self._start(draft, lambda: draft.make(plan, self._home))

    def remove(self, draft: Draft) -> None:
        """Remove a draft, unless it is in use."""
        with self._lock:
            if draft.stage is None:
                self._drop(draft)

    def close(self) -> None:
        """Remove all."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for draft in list(self._drafts.values()):
                self._drop(draft)

    def _drop(self, draft: Draft) -> None:
        self._drafts.pop(draft.id, None)
        shutil.rmtree(draft.folder, ignore_errors=True)

    def _start(self, draft: Draft, work: Callable[[], None]) -> None:
        draft.stage, draft.trouble = Message("Waiting"), ""
        self._pool.submit(self._do, draft, work)

    def _do(self, draft: Draft, work: Callable[[], None]) -> None:
        try:
            work()
        except AskmeansError as error:
            draft.trouble = explain(error)
        except Exception:
            _log.exception("A project could not be made.")
            draft.trouble = Message("Something went wrong here. The log says more.")
        finally:
            if draft.made or not draft.is_read:  # no files are left behind
                shutil.rmtree(draft.folder, ignore_errors=True)
            draft.stage = None


def file_stem(title: str) -> str:
    """The name of a project's files."""
    stem = re.sub(r"[^\w.-]+", "-", title).strip(".-")[:60].rstrip(".-")
    if not stem:
        raise RefusalError(Message("The project's name needs a letter or a digit."))
    if set("/\\") & set(title):
        raise RefusalError(Message("A project's name has no slashes. Choose another."))
    if stem.lower().endswith((".db", ".sqlite")):  # its address could be another project's
        raise RefusalError(Message("The project's name must not end in .db or .sqlite."))
    return stem


def _pictures_of(file: Path) -> Path:
    """The folder with the pictures of a project."""
    return file.with_suffix(".pictures")


def _check_free(file: Path, title: str) -> None:
    """Refuse a project whose files exist, or an old log that SQLite would add to its database."""
    logs = [file.with_name(f"{file.name}-{log}") for log in ("wal", "shm", "journal")]
    if any(os.path.lexists(path) for path in (file, _pictures_of(file), *logs)):
        raise _taken(title)


def _taken(title: str) -> RefusalError:
    """The error of a name that is in use."""
    return RefusalError(
        Message("There is a project {title} already. Choose another name.", title=title)
    )


def _as_title(stem: str) -> str:
    """A file's name as words."""
    words = " ".join(re.split(r"[\W_]+", stem)).strip()[:60]
    return (words[:1].upper() + words[1:]) or Message("New project")


def _without_paths(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A table, of whose pictures only bytes stay: a path would be that of a file of the server."""
    pictures = {}
    for name, values in frame.items():
        first = next(iter(values.dropna()), None)
        if isinstance(first, bytes) or (
            isinstance(first, dict) and {"bytes", "path"} <= set(first)
        ):
            contents = [each.get("bytes") if isinstance(each, dict) else each for each in values]
            pictures[str(name)] = [each if isinstance(each, bytes) else None for each in contents]
    return frame.assign(**pictures)
