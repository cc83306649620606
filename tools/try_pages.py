"""Try the documentation as a new user would: every command and example of a page, in its order.

    python tools/try_pages.py                        # all tutorials, each in a fresh folder
    python tools/try_pages.py docs/start.md          # some pages
    python tools/try_pages.py --fresh                # in a fresh environment

A page's ```console blocks are run by bash: each line after "$ " is a command, and the lines below
it must be among those it prints ("..." stands for anything). Its ```python blocks are doctests.
Both share a folder.
"""

import argparse
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import venv
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parents[1]
TUTORIALS = [ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
SECONDS = 300  # after which a command hangs
Runner = Callable[[str], tuple[int, str]]


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The page's blocks that run: `console` or `python`, and what is in them."""
    yield from re.findall(r"^```(console|python)\n(.*?)^```", page.read_text(), re.DOTALL | re.M)


def try_page(page: Path, run: Runner | None) -> list[str]:
    """Run a page's blocks in this folder, commands by the function; return what went wrong."""
    wrong: list[str] = []
    names: dict[str, object] = {}
    for number, (kind, block) in enumerate(blocks(page)):
        if kind == "python":
            wrong += _try_python(block, names, f"{page.name}[{number}]")
        elif run is not None:
            for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
                wrong += _try_command(command, run)
    return wrong


def _try_python(block: str, names: dict[str, object], name: str) -> list[str]:
    """Run a doctest; names last from one block to the next."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(block, names, name, name, 0)
    if not test.examples:
        return [f"{name}: a python block without a prompt is never run"]
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    return ["".join(said)] if runner.failures else []


def _try_command(text: str, run: Runner) -> list[str]:
    """Run a command (a line that ends with a backslash goes on) and look for the lines below it."""
    command, *expected = text.replace("\\\n", " ").rstrip().split("\n")
    code, said = run(command)
    printed = [_squeezed(line) for line in said.splitlines()]
    wrong = [] if code in (0, 3) else [f"exit code {code}"]
    for line in filter(None, map(_squeezed, expected)):
        pattern = ".*".join(map(re.escape, line.split("...")))
        if not any(re.fullmatch(pattern, each) for each in printed):
            wrong.append(f"not printed: {line}")
    return [f"$ {command}\n{'; '.join(wrong)}\n{said}"] if wrong else []


def run_in_bash(command: str) -> tuple[int, str]:
    """Run a command as a user does; its exit code and all that it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        ["bash", "-c", command], env=os.environ | {"PATH": path, "COLUMNS": "100"},
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def run_here(command: str) -> tuple[int, str]:
    """The same in this process where it is askmeans, which saves loading everything each time."""
    from askmeans.cli import main

    typed, _, piped = command.rpartition(" | askmeans ")
    words = shlex.split(f"askmeans {piped}" if typed else command)
    if words[0] != "askmeans" or {"|", ">", "&&"} & set(words):
        return run_in_bash(command)
    said, stdin = io.StringIO(), sys.stdin
    os.environ["COLUMNS"] = "100"
    sys.stdin = io.StringIO(run_in_bash(typed)[1] if typed else "")
    try:
        with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
            main(words[1:])
    except SystemExit as end:
        return int(end.code or 0), said.getvalue()
    finally:
        sys.stdin = stdin
        del os.environ["COLUMNS"]
    return 0, said.getvalue()


def _squeezed(line: str) -> str:
    """A line with single spaces."""
    return " ".join(line.split())


def _in_fresh_environment(arguments: list[str]) -> int:
    """Install askmeans as a user does, and try the pages there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        install = [str(python), "-m", "pip", "install", "-q", f"{ROOT}[all]"]
        subprocess.run(install, check=True)
        return subprocess.run([str(python), __file__, *arguments], check=False).returncode


def main() -> int:
    """Try pages, and say how each went."""
    parser = argparse.ArgumentParser(description="Try the documentation's commands and examples.")
    parser.add_argument("pages", nargs="*", type=Path, default=TUTORIALS)
    parser.add_argument("--fresh", action="store_true", help="in an environment made for it")
    told = parser.parse_args()
    if told.fresh:
        return _in_fresh_environment([str(page.absolute()) for page in told.pages])
    failed = 0
    for page in [page.absolute() for page in told.pages]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            wrong = try_page(page, run_in_bash)
            os.chdir(ROOT)
        print(f"{'wrong' if wrong else 'ok':6}{page.name}", *wrong, sep="\n", flush=True)
        failed += bool(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
