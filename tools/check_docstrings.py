"""Hold the docstring of every public object to numpydoc's rules; private helpers go free.

Public is what `askmeans.__all__` reaches: its classes with their methods, and the functions and
classes in the `__all__` of its modules.
"""

import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

import askmeans

# Of numpydoc's rules: form, all parameters with types, returns. Examples stand where they teach.
RULES = {
    "GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL10",
    "SS01", "SS02", "SS03", "SS04",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR08", "PR09", "PR10",
    "RT01", "RT03", "RT04", "RT05", "YD01",
}  # fmt: skip

# What `oracles.Oracle` tells of every oracle; a method of this name says what is its own.
OF_A_PROTOCOL = {(room, method) for room in ("oracles", "llm") for method in ("answer", "who")}


def public_names() -> Iterator[str]:
    """Dotted names of all public functions, classes and methods."""
    for name in askmeans.__all__:
        value = getattr(askmeans, name)
        members = [value]
        if inspect.ismodule(value):
            members = [getattr(value, member) for member in value.__all__]
        for member in members:
            if not (inspect.isclass(member) or inspect.isfunction(member)):
                continue  # a type alias has no docstring
            path = f"{member.__module__}.{member.__qualname__}"
            yield path
            if inspect.isclass(member):
                yield from methods(member)


def methods(kind: type) -> Iterator[str]:
    """Dotted names of a class's public methods, those of its bases in this package included."""
    for base in kind.__mro__:
        if not base.__module__.startswith("askmeans.") or base.__name__.startswith("_"):
            continue
        for method, function in vars(base).items():
            plain = getattr(function, "__func__", function)
            told = (base.__module__.split(".")[1], method) in OF_A_PROTOCOL
            if not method.startswith("_") and not told and inspect.isfunction(plain):
                yield f"{base.__module__}.{base.__qualname__}.{method}"


def main() -> int:
    """Print what breaks a rule; exit with 1 if anything does."""
    names = sorted(set(public_names()))
    faults = 0
    for name in names:
        report = validate(name)
        # An enumeration is made by its words and a protocol not at all: they have no parameters.
        is_word = name.endswith(("State", ".driver.Oracle"))
        is_error = name.startswith("askmeans.exceptions.")
        # What every error takes, AskmeansError documents.
        for code, message in report["errors"]:
            if code in RULES and not (code == "PR01" and (is_word or is_error)):
                faults += 1
                print(f"{report['file']}:{report['file_line']}: {name}: {code} {message}")
    print(f"Docstrings of {len(names)} public objects checked, {faults} faults.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
