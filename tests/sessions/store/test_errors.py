"""A full disk, a read-only file, a lock, another file: a typed error, and the next try works."""

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from askmeans import sessions
from askmeans.exceptions import (
    NoSessionError,
    StoreBusyError,
    StoreDamagedError,
    StoreFullError,
    StoreMovedError,
)
from askmeans.sessions.store import backup_store, upgrade_store


@pytest.fixture
def small(make):
    """A session with one answer, and the question it asks next."""
    session = make()
    (first,) = session.ask()
    session.tell(first.id, 0.5)
    (question,) = session.ask()
    return session, question


def write_on(session):
    """Write until there is no room."""
    for number in range(10_000):
        session.groups.rename(0, "x" * 190 + str(number))


def test_a_full_database_is_told_and_the_next_try_works(small, again):
    session, question = small
    with session.runtime.store.backend.engine.connect() as connection:  # the only one in the pool
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFullError, match=r"s\.db must have room .* free some space"):
        write_on(session)
    history = session.history.answers()
    with session.runtime.store.backend.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    receipt = session.tell(question.id, 0.25)
    assert again(session).history.answers() == [*history, receipt]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_disk_without_room_is_told_and_the_next_try_works(small, tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("no mounting here")
    session, question = small
    path = tmp_path / "full.db"
    try:
        session.close()
        shutil.copy(session.url, path)
        full = sessions.open(path)
        full.ask()  # the log for the answer is there; the disk is full afterwards
        ballast = tmp_path / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 512)
        with pytest.raises(StoreFullError, match="free some space"):
            write_on(full)
        before = full.history.answers()
        ballast.unlink()
        receipt = full.tell(question.id, 0.25)
        assert sessions.open(path).history.answers() == [*before, receipt]
        full.close()
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_read_only_file_is_told_and_can_still_be_read(small):
    # In a child without root's powers, whom permissions do not bind.
    session, question = small
    path = session.url
    session.close()
    code = textwrap.dedent(
        f"""
        import os, sys
        from askmeans import sessions
        from askmeans.exceptions import StoreReadOnlyError
        path = {path!r}
        sessions.open(path).result()  # everything is loaded
        os.chmod(path, 0o444)
        os.chmod(os.path.dirname(path), 0o777)
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        session = sessions.open(path)
        assert session.status().answered == 1
        assert session.result().n_queries == 1
        for attempt in (lambda: session.tell({question.id}, 0.5), session.ask):
            try:
                attempt()
            except StoreReadOnlyError as error:
                assert "must be writable" in str(error) and "chmod" in str(error), error
            else:
                raise SystemExit("no error")
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    for file in Path(path).parent.glob(f"{Path(path).name}*"):  # SQLite's own, too
        file.chmod(0o644)
    with sessions.open(path) as writable:
        assert writable.tell(question.id, 0.5).value == 0.5


def test_a_locked_database_is_told_and_the_next_try_works(small, monkeypatch):
    session, question = small
    monkeypatch.setenv("ASKMEANS_BUSY_SECONDS", "0.01")
    hurried = sessions.open(session.url)
    holder = sqlite3.connect(session.url, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match=r"close the program that holds it, and try again"):
        hurried.tell(question.id, 0.25)
    assert hurried.status().answered == 1  # reading goes on
    holder.execute("ROLLBACK")
    holder.close()
    assert hurried.tell(question.id, 0.25).value == 0.25
    hurried.close()


def move(path, to):
    """Move a database with all its files, as `mv x.db* elsewhere` does."""
    to.mkdir(exist_ok=True)
    for file in sorted(path.parent.glob(f"{path.name}*")):
        file.rename(to / file.name)
    return to / path.name


def removed(path):
    path.unlink()


def replaced(path):
    copy = shutil.copy(path, path.with_name("copy.db"))
    Path(copy).replace(path)


def made_anew(path):
    move(path, path.parent / "old")
    sessions.create(path, [[0.0], [1.0], [2.0]], n_clusters=2).close()


def in_a_renamed_folder(path):
    path.parent.rename(path.parent.with_name("renamed"))


def without_its_log(path):
    path.with_name(f"{path.name}-wal").unlink()


@pytest.mark.parametrize(
    "change", [removed, replaced, made_anew, in_a_renamed_folder, without_its_log]
)
def test_no_answer_is_confirmed_once_its_database_is_not_where_it_was(change, tmp_path, kit):
    folder = tmp_path / "here"
    folder.mkdir()
    with sessions.create(folder / "s.db", kit.X, n_clusters=3, ask="membership") as session:
        first, second = session.ask(2)
        session.tell(first.id, 0.5)
        change(folder / "s.db")
        for attempt in (lambda: session.tell(second.id, 0.25), session.ask, session.settings.pause):
            with pytest.raises(match=r"s\.db.* must .* was not confirmed") as error:
                attempt()
            assert "start again" in str(error.value)
        # What was answered before can still be had from here.
        assert [receipt.value for receipt in session.history.answers()] == [0.5]
        assert session.result().n_queries == 1


def overwrite(path, content):
    """Write over a file in its place, as `cp` does; the file system's clock may tick slowly."""
    before = path.stat().st_mtime_ns
    while path.stat().st_mtime_ns == before:
        path.write_bytes(content)


IN_PLACE = {
    "an older copy": lambda path: path.with_name("older.db").read_bytes(),
    "nothing": lambda _: b"",
    "half of it": lambda path: path.read_bytes()[: path.stat().st_size // 8192 * 4096],
    "something else": lambda path: b"no database " * (path.stat().st_size // 12),
    "another session": lambda path: path.with_name("another.db").read_bytes(),
    "zeros in the middle": lambda path: (
        path.read_bytes()[:8192] + bytes(path.stat().st_size - 8192)
    ),
}


@pytest.mark.parametrize("content", IN_PLACE)
@pytest.mark.parametrize("since", [6, 30])
def test_no_answer_is_confirmed_once_its_database_was_overwritten_in_its_place(
    content, since, tmp_path, kit
):
    path = tmp_path / "s.db"
    sessions.create(tmp_path / "another.db", [[0.0], [1.0], [2.0]], n_clusters=2).close()
    with sessions.create(path, kit.X, n_clusters=3, ask="group", random_state=0) as session:
        kit.answer(session, 8)
        backup_store(path, tmp_path / "older.db")
        kit.answer(session, since)
        (question,) = session.ask()
        overwrite(path, IN_PLACE[content](path))
        for attempt in (
            lambda: session.tell(question.id, 0),
            session.settings.pause,
            session.check_writable,
            lambda: session.people.invite("Ada"),
        ):
            with pytest.raises(
                StoreMovedError, match=r"s\.db must .* start again.*not confirmed"
            ) as refusal:
                attempt()
            assert "s.db was changed by another program" in refusal.value.user_message
        assert len(session.history.answers()) == 8 + since


@pytest.mark.parametrize("content", IN_PLACE)
@pytest.mark.parametrize("since", [0, 1, 2])
def test_what_is_confirmed_on_an_overwritten_database_can_be_read_by_others(
    content, since, tmp_path, kit
):
    path = tmp_path / "s.db"
    sessions.create(tmp_path / "another.db", [[0.0], [1.0], [2.0]], n_clusters=2).close()
    with sessions.create(path, kit.X, n_clusters=3, ask="group", random_state=0) as session:
        kit.answer(session, 8)
        backup_store(path, tmp_path / "older.db")
        kit.answer(session, since)
        overwrite(path, IN_PLACE[content](path))
        with suppress(StoreMovedError):  # the log may have all that the file lacks
            kit.answer(session, 20)
            with sessions.open(path) as other:
                assert len(other.history.answers()) == 28 + since


def test_an_older_copy_with_the_same_rows_is_noticed(tmp_path, kit):
    path = tmp_path / "s.db"
    with sessions.create(path, kit.X, n_clusters=3, ask="group", random_state=0) as session:
        for _ in range(12):
            session.ask(annotator="Ada")  # writes how long she holds the question, and no row
        older = path.read_bytes()
        for _ in range(12):
            session.ask(annotator="Ada")
        overwrite(path, older)
        with pytest.raises(StoreMovedError):
            session.ask(annotator="Ada")


@pytest.mark.parametrize("answers", [3, 20])
def test_an_overwritten_database_that_is_put_back_takes_answers_again(make, again, kit, answers):
    session = make(ask="group")
    path = Path(session.url)
    kit.answer(session, answers)
    (question,) = session.ask()
    whole = path.read_bytes()
    overwrite(path, b"")
    with pytest.raises(StoreMovedError):
        session.tell(question.id, 0)
    overwrite(path, whole)
    assert session.tell(question.id, 0).question == question.id
    assert len(again(session).history.answers()) == answers + 1


def test_checkpoints_of_others_are_no_harm(make, again, kit):
    session = make(ask="group")
    other = again(session)
    for _ in range(10):
        kit.answer(session, 1)
        kit.answer(other, 1, annotator="you")
        with sqlite3.connect(session.url) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    assert len(session.history.answers()) == 20


def test_a_state_that_was_restored_by_the_database_itself_is_noticed(database_at, kit):
    place = database_at("s")
    with sessions.create(place, kit.X, n_clusters=3, ask="group", random_state=0) as session:
        kit.answer(session, 4)
        (question,) = session.ask()
        lost = "DELETE FROM askmeans_events WHERE id > 2"
        with session.runtime.store.backend.engine.begin() as connection:
            connection.exec_driver_sql(lost)
        for attempt in (lambda: session.tell(question.id, 0), session.check_writable):
            with pytest.raises(StoreMovedError, match="an older state was restored") as refusal:
                attempt()
            assert "put back to an older state" in refusal.value.user_message
    with sessions.open(place) as session:
        assert len(session.history.answers()) == 2
        kit.answer(session, 1)


def test_a_database_put_back_takes_answers_again(small, again):
    session, question = small
    path = Path(session.url)
    away = move(path, path.parent / "away")
    with pytest.raises(StoreMovedError, match="no file at its place; put the old one back"):
        session.tell(question.id, 0.25)
    assert not path.exists()  # nothing was made in its place
    move(away, path.parent)
    assert session.tell(question.id, 0.25).value == 0.25
    assert again(session).status().answered == 2


def test_connections_made_later_are_to_the_database_that_was_opened(small):
    session, _ = small
    made_anew(Path(session.url))
    another = pytest.raises(StoreMovedError, match="another file at its place")
    with session.runtime.store.backend.engine.connect(), another:  # the one there was
        session.history.answers()  # needs a second one


def test_a_link_to_a_database_is_as_good_as_its_path(small, tmp_path):
    session, question = small
    link = tmp_path / "link.db"
    link.symlink_to(session.url)
    with sessions.open(link) as linked:
        assert linked.tell(question.id, 0.25).value == 0.25


def test_a_file_that_is_no_database_is_told(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but a text of some length " * 30)
    for attempt in (
        lambda: sessions.open(path),
        lambda: sessions.create(path, [[0.0], [1.0]], n_clusters=2),
    ):
        with pytest.raises(StoreDamagedError, match=r"notes\.txt must be an SQLite database"):
            attempt()
    assert path.read_text().startswith("not a database")


def test_a_database_of_something_else_holds_no_session(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    connection.close()
    for mode in ("delete", "wal"):  # neither is changed by a look
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.close()
        before = path.read_bytes()
        for attempt in (sessions.open, sessions.names, upgrade_store):
            with pytest.raises(NoSessionError, match="must hold sessions of askmeans"):
                attempt(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]
    sessions.create(path, [[0.0], [1.0]], n_clusters=2).close()  # it may hold both
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM photos").fetchone() == (0,)
    connection.close()


def test_a_path_where_nothing_is_stays_empty(tmp_path):
    path = tmp_path / "none.db"
    for attempt in (lambda: sessions.open(path), lambda: sessions.names(path)):
        with pytest.raises(NoSessionError, match=r"There must be a database at .*none\.db"):
            attempt()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NoSessionError, match="must be a folder"):
        sessions.create(tmp_path / "no" / "s.db", [[0.0], [1.0]], n_clusters=2)


def test_a_missing_extra_names_the_line_that_installs_it():
    code = textwrap.dedent(
        """
        import sys
        sys.modules["sqlalchemy"] = None
        from askmeans import sessions
        from askmeans.exceptions import MissingExtraError
        try:
            sessions.open("x.db")
        except MissingExtraError as error:
            assert 'pip install "askmeans[sessions]"' in str(error), error
        else:
            raise SystemExit("no error")
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True)
