"""A real PostgreSQL for tests: in a scratch folder, on a socket there, run by nobody special.

Debian's binaries are used (`tools/install-postgres.sh`, which `make unit` runs). The server refuses
to run as root, so root starts it as the user `nobody`.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Server", "binaries", "running"]

_PLACES = ["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"]
_NOBODY = 65534


def binaries():
    """The folder of the newest PostgreSQL's programs; None where there is none."""
    found = [path for place in _PLACES for path in Path("/").glob(f"{place[1:]}/initdb")]
    if found:
        return max(found, key=lambda path: [int(n) for n in path.parts if n.isdigit()]).parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


class Server:
    """A server in a folder of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.count = 0

    def run(self, program, *arguments):
        """Run one of PostgreSQL's programs, not as root."""
        user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if _is_root() else {}
        with (self.folder / "said").open("wb") as said:  # a server keeps a pipe open for ever
            done = subprocess.run(
                [binaries() / program, *arguments], cwd=self.folder, stdout=said, stderr=said,
                check=False, timeout=120, **user,
            )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError((self.folder / "said").read_text())

    def make(self, *, safe=False):
        """Make the folder of an empty server; its superuser is "tests"."""
        if _is_root():
            os.chown(self.folder, _NOBODY, _NOBODY)
        self.run(
            "initdb", "-D", self.data, "-A", "trust", "-U", "tests", "--no-sync", "-E", "UTF8",
            "--locale=C",
        )  # fmt: skip
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(
                f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\n"
                "max_connections = 200\nshared_buffers = '32MB'\nlog_min_messages = fatal\n"
                + ("" if safe else "fsync = off\nfull_page_writes = off\n")
            )

    def start(self):
        """Start it, and wait until it takes connections."""
        self.run("pg_ctl", "-D", self.data, "-w", "-s", "-l", self.folder / "log", "start")

    def stop(self, mode="fast"):
        """Stop it at once: "fast" ends transactions, "immediate" is a crash."""
        self.run("pg_ctl", "-D", self.data, "-w", "-s", "-m", mode, "stop")

    def url(self, name):
        """The URL of a database."""
        return f"postgresql://tests@/{name}?host={self.folder}"

    def create(self, template="template1"):
        """Make a database, a copy of another; its URL."""
        import psycopg

        self.count += 1
        name = f"db_{os.getpid()}_{self.count}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def drop(self, url):
        """Remove a database."""
        import psycopg

        name = url.partition("@/")[2].partition("?")[0]
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def running(*, safe=False):
    """A server that runs, and is gone afterwards, also where this process is killed.

    It does not wait for the disk, unless it is to be `safe`, as a real one is.
    """
    folder = tempfile.mkdtemp(prefix="askmeans-pg-")
    watch = None
    try:
        server = Server(folder)
        server.make(safe=safe)
        server.start()
        watch = subprocess.Popen(
            [sys.executable, __file__, folder], stdin=subprocess.PIPE, start_new_session=True
        )
        yield server
    finally:
        if watch is not None:
            watch.stdin.close()
            watch.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _is_root():
    return os.geteuid() == 0


def _guard(folder):
    """Wait for the other end to be closed, by will or by death; then stop the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    pid = Path(folder) / "data" / "postmaster.pid"
    if pid.exists():
        number = int(pid.read_text().split()[0])
        os.kill(number, signal.SIGQUIT)
        end = time.monotonic() + 20
        while pid.exists() and time.monotonic() < end:
            time.sleep(0.01)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":  # tools/install-postgres.sh asks whether there are programs
    if len(sys.argv) == 1:
        sys.exit(binaries() is None)
    _guard(sys.argv[1])
