"""Files that an owner sends: forms with a file, written to disk as they come; unpacked pictures.

Rules of this file:
- A file is written to a folder of its own. Of the name that a browser gives it only letters,
  digits, dots, hyphens and underscores are kept.
- Nothing is believed about sizes: bytes are counted as they come, and as they are unpacked.
- An archive's folders and names are not used: pictures get the last part of their path.
"""

import re
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from fastapi import HTTPException, Request

from askmeans._util.message import Message
from askmeans.tables.reading import IMAGE_SUFFIXES
from askmeans.web.errors import RefusalError
from askmeans.web.forms import INCOMPLETE

MOST_UPLOAD = 200_000_000  # bytes of a file, or of lines that are pasted
_MOST_PICTURES = 20_000
_MOST_UNPACKED = 2_000_000_000  # bytes of all pictures
MOST_PICTURE = 50_000_000  # bytes of one
_MOST_FIELD = 16 * 1024  # bytes of a field that is no text
_LONGEST_NAME = 80
_CHUNK = 2**20
_BOUNDARY = re.compile(r"""multipart/form-data;.*?\bboundary="?([\w'()+,./:=?-]{1,70})"?""", re.I)
_NAME = re.compile(r'\bname="([^"]*)"', re.ASCII)
_FILE = re.compile(r'\bfilename="([^"]*)"')


async def read_upload(request: Request, folder: Path) -> tuple[dict[str, str], Path | None]:
    """The fields of a form with a file, and the file, which is written to the folder.

    A field `lines` is a file, too: `lines.txt`.
    """
    boundary = _BOUNDARY.match(request.headers.get("content-type", ""))
    if boundary is None:
        raise HTTPException(415, "A file must be sent as multipart/form-data.")
    parts = _Parts(request.stream())
    mark = b"\r\n--" + boundary[1].encode()
    fields: dict[str, str] = {}
    path = None
    await parts.pass_on(mark, lambda _: None)
    while await parts.rest_of_line() != b"--":
        head = (await parts.collect(b"\r\n\r\n")).decode(errors="replace")
        name, file = _NAME.search(head), _FILE.search(head)
        if name is None:
            raise HTTPException(422, INCOMPLETE)
        if file is None and name[1] != "lines":
            fields[name[1]] = (await parts.collect(mark)).decode(errors="replace")
            continue
        written = folder / (_plain_name(file[1]) if file else "lines.txt")
        with written.open("wb") as opened:
            await parts.pass_on(mark, opened.write)
        if written.stat().st_size:
            path = written
    return fields, path


class _Parts:
    """A request body as a stream, divided at marks."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray(b"\r\n")  # the first mark has no line before it

    async def pass_on(self, mark: bytes, write: Callable[[bytes], object]) -> None:
        """Write the bytes before a mark, and drop the mark."""
        while (place := self._buffer.find(mark)) < 0:
            safe = len(self._buffer) - len(mark) + 1
            if safe > 0:
                write(bytes(self._buffer[:safe]))
                del self._buffer[:safe]
            await self._receive()
        write(bytes(self._buffer[:place]))
        del self._buffer[: place + len(mark)]

    async def collect(self, mark: bytes) -> bytes:
        """Return the bytes before a mark, which must be few."""
        content = bytearray()

        def write(chunk: bytes) -> None:
            content.extend(chunk)
            if len(content) > _MOST_FIELD:
                raise HTTPException(413, Message("This is too long for a field. Shorten it."))

        await self.pass_on(mark, write)
        return bytes(content)

    async def rest_of_line(self) -> bytes:
        """The two bytes after a mark: a new line before another part, or the end."""
        while len(self._buffer) < 2:
            await self._receive()
        rest = bytes(self._buffer[:2])
        del self._buffer[:2]
        return rest

    async def _receive(self) -> None:
        chunk = await anext(self._chunks, b"")  # empty at the end only
        if not chunk:
            raise HTTPException(422, INCOMPLETE)
        self._buffer += chunk


def _plain_name(name: str) -> str:
    """A file's name without folders and special characters."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.-]+", "_", last).lstrip(".")[-_LONGEST_NAME:] or "data"


def unpack_pictures(archive: Path, folder: Path) -> None:
    """Unpack the pictures of a zip file into a folder.

    Raises
    ------
    RefusalError
        If it has none, too many or too large ones, is damaged or needs a password.
    """
    folder.mkdir()
    left = _MOST_UNPACKED
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [each for each in opened.infolist() if _is_picture(each)]
            if not members:
                suffixes = ", ".join(suffix[1:] for suffix in IMAGE_SUFFIXES)
                raise RefusalError(
                    Message("There is no picture in the zip file: {kinds}.", kinds=suffixes)
                )
            if len(members) > _MOST_PICTURES:
                raise RefusalError(
                    Message(
                        "A zip file has at most {most} pictures, and this one has {n}. Send a part "
                        "of them.",
                        most=_MOST_PICTURES,
                        n=len(members),
                    )
                )
            for member in members:
                target = _unused(folder, _plain_name(member.filename))
                left -= _unpack(opened, member, target, min(left, MOST_PICTURE))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        raise RefusalError(
            Message(
                "{file} could not be unpacked: it needs a password. Make it again.",
                file=archive.name,
            )
            if "password" in str(error)
            else Message(
                "{file} could not be unpacked: it is damaged. Make it again.", file=archive.name
            )
        ) from error


def _is_picture(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a picture, and no hidden file of a system or editor."""
    parts = member.filename.replace("\\", "/").split("/")
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return not hidden and parts[-1].lower().endswith(IMAGE_SUFFIXES)


def _unused(folder: Path, name: str) -> Path:
    """A new path of this name in the folder, with a number if the name exists."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return path


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, most: int) -> int:
    """Unpack a picture up to a size; return its size."""
    n_bytes = 0
    with archive.open(member) as source, target.open("wb") as file:
        while chunk := source.read(min(_CHUNK, most - n_bytes + 1)):
            n_bytes += len(chunk)
            if n_bytes > most:
                raise RefusalError(
                    Message(
                        "{file} is too large: a picture may have {most} MB, and all together "
                        "{most_together} GB. Send a part of them.",
                        file=target.name,
                        most=MOST_PICTURE // 10**6,
                        most_together=_MOST_UNPACKED // 10**9,
                    )
                )
            file.write(chunk)
    return n_bytes
