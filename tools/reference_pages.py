"""Pages of the reference that the code itself tells: public names, commands, the HTTP interface."""

import importlib
import inspect
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

import askmeans

# Public though `askmeans.__all__` does not list them.
MORE_MODULES = ("policy", "results", "testing")


def public_modules() -> dict[str, list[str]]:
    """Every public module's dotted name, with its public names."""
    tops = [name for name in askmeans.__all__ if not inspect.ismodule(getattr(askmeans, name))]
    modules = {"askmeans": tops}
    for name in sorted({*askmeans.__all__, *MORE_MODULES} - set(tops)):
        module = importlib.import_module(f"askmeans.{name}")
        modules[module.__name__] = sorted(module.__all__, key=str.lower)
    return modules


def api_pages() -> dict[str, str]:
    """The pages under docs/api, in reStructuredText: one for each module, and one for each name."""
    modules = public_modules()
    pages = {"index.rst": _title("Python") + _index(modules)}
    for module, names in modules.items():
        pages[f"{module}.rst"] = _module_page(module, names)
        for name in names:
            pages[f"{module}.{name}.rst"] = _name_page(module, name)
    return pages


def _index(modules: dict[str, list[str]]) -> str:
    """All modules with what each is for."""
    lines = []
    for module in modules:
        first, *_ = (inspect.getdoc(importlib.import_module(module)) or "").splitlines()
        lines.append(f"* :doc:`{module}`: {first}")
    return "\n".join(lines) + "\n\n" + _toctree(modules)


def _module_page(module: str, names: list[str]) -> str:
    """A module's first line, and a table of its names."""
    first = inspect.getdoc(importlib.import_module(module)) or ""
    entries = "".join(f"   {name}\n" for name in names)
    summary = f".. currentmodule:: {module}\n\n.. autosummary::\n   :nosignatures:\n\n{entries}\n"
    pages = _toctree([f"{module}.{name}" for name in names])
    return f"{_title(module)}.. module:: {module}\n\n{first}\n\n{summary}{pages}"


def _name_page(module: str, name: str) -> str:
    """A name with all that its docstring says."""
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        members = ", ".join(_own_members(value))
        directive = f".. autoclass:: {name}\n" + (f"   :members: {members}\n" if members else "")
    elif inspect.isroutine(value):
        directive = f".. autofunction:: {name}\n"
    else:
        directive = f".. autodata:: {name}\n"
    return f"{_title(name)}.. currentmodule:: {module}\n\n{directive}"


def _own_members(value: type) -> list[str]:
    """A class's public methods and properties that are written here, not in another package."""
    return [
        name
        for name, member in inspect.getmembers(value)
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, property))
        and str(getattr(getattr(member, "fget", member), "__module__", "")).startswith("askmeans")
    ]


def _title(text: str) -> str:
    """A heading."""
    return f"{text}\n{'=' * len(text)}\n\n"


def _toctree(names: Iterable[str]) -> str:
    """The pages below this one, for the navigation."""
    return ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in names) + "\n"


def commands() -> dict[str, Any]:
    """The commands of the command line, by their names."""
    return dict(_program().commands)


def _program() -> Any:
    """The whole command line, as click has it."""
    return typer.main.get_command(importlib.import_module("askmeans.cli").app)


def command_sections() -> str:
    """Every command with its arguments and options, as Markdown."""
    every = [_root_section(), *(_command_section(name, told) for name, told in commands().items())]
    return "\n".join(every)


def _root_section() -> str:
    """The options that stand before a command."""
    rows = [_row(parameter) for parameter in _program().params if not parameter.hidden]
    return "\n".join(["## `askmeans`", "", "| option | meaning |", "|---|---|", *rows, ""])


def _command_section(name: str, command: Any) -> str:
    """What a command does, and a table of its options."""
    words = [_place(each) for each in command.params if each.param_type_name == "argument"]
    lines = [f"## `askmeans {' '.join([name, *words])}`", "", inspect.cleandoc(command.help), ""]
    rows = [_row(parameter) for parameter in command.params if not parameter.hidden]
    if rows:
        lines += ["| argument or option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _place(argument: Any) -> str:
    """An argument as one writes it."""
    word = str(argument.metavar or argument.name.upper())
    return word if argument.required or "[" in word else f"[{word}]"


def _row(parameter: Any) -> str:
    """A row of the table: how it is written, what it means, its default."""
    if parameter.param_type_name == "argument":
        written = f"`{_place(parameter)}`"
    else:
        value = "" if parameter.is_flag else f" {_value(parameter)}"
        forms = [*parameter.opts, *parameter.secondary_opts]
        written = ", ".join(f"`{form}{value}`" for form in forms)
    meaning = " ".join((parameter.help or "").split()).replace("|", "\\|")
    default = parameter.default
    said = isinstance(default, bool) or "efault" in meaning
    if isinstance(default, str | int | float | Path) and not said:
        meaning += f" Default: `{getattr(default, 'value', default)}`."
    return f"| {written} | {meaning} |"


def _value(option: Any) -> str:
    """What is written after an option: its choices, or a word that says what comes there."""
    annotation = option.type_descriptor.annotation
    kinds = (annotation, *get_args(annotation))
    for choices in kinds:
        if get_origin(choices) is Literal:
            return "\\|".join(get_args(choices))
    words = {int: "N", float: "X", Path: "PATH"}
    return str(option.metavar or next((words[each] for each in words if each in kinds), "TEXT"))


def openapi() -> dict[str, Any]:
    """The page's HTTP interface, as a server of a small session describes it."""
    from askmeans import sessions, web

    with tempfile.TemporaryDirectory() as folder:
        url = Path(folder) / "small.db"
        sessions.create(url, [[0.0], [1.0]], n_clusters=2).close()
        app = web.create_app(url)
        schema: dict[str, Any] = app.openapi()
        app.state.context.close()
    return schema


def http_sections() -> str:
    """Every path of the HTTP interface, from its OpenAPI description, as Markdown."""
    schema = openapi()
    models = schema["components"]["schemas"]
    lines: list[str] = []
    for path, methods in schema["paths"].items():
        for method, told in methods.items():
            lines += [f"## `{method.upper()} {path}`", "", told.get("description", ""), ""]
            lines += _request(told) + _responses(told)
    lines += ["## What is sent and returned", ""]
    for name, model in models.items():
        lines += [f"({_anchor(name)})=", "", f"### {name}", "", model.get("description", ""), ""]
        lines += _table(model.get("properties", {}), set(model.get("required", ())))
    return "\n".join(lines)


def _anchor(name: str) -> str:
    """The label of a record's table."""
    return f"http-{name.lower()}"


def _request(told: dict[str, Any]) -> list[str]:
    """Parameters of a path, and the body that is sent."""
    fields = {each["name"]: each for each in told.get("parameters", ())}
    lines = _table({name: each["schema"] | each for name, each in fields.items()}, set())
    if "requestBody" in told:
        (content,) = told["requestBody"]["content"].values()
        lines += [f"Send {_type(content['schema'])}.", ""]
    return lines


def _responses(told: dict[str, Any]) -> list[str]:
    """What comes back."""
    lines, refused = [], []
    for status, answer in told["responses"].items():
        content = answer.get("content", {}).get("application/json", {}).get("schema")
        if status.startswith("2") and content:
            lines.append(f"Returns {status} with {_type(content)}.")
        elif not status.startswith("2"):
            refused.append(status)
    if refused:
        lines.append(f"Other answers: {', '.join(refused)}.")
    return [" ".join(lines), ""]


def _table(fields: dict[str, Any], required: set[str]) -> list[str]:
    """Names, types and meanings."""
    rows = [
        f"| `{name}` | {_type(field)}{'' if name in required or not required else ', optional'} "
        f"| {field.get('description', '')} |"
        for name, field in fields.items()
    ]
    return ["| name | type | meaning |", "|---|---|---|", *rows, ""] if rows else []


def _type(field: dict[str, Any]) -> str:
    """A JSON schema's type in a few words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(each) for each in field["anyOf"]))
    if field.get("type") == "array":
        return f"array of {_type(field.get('items', {}))}"
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    return str(field.get("type", "any"))
