"""Small copies of pictures, made before somebody sees the card that they are on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from askmeans.exceptions import AskmeansError
from askmeans.queries import ME
from askmeans.sessions import Session
from askmeans.sessions.store import thumbnails_of
from askmeans.tables.pictures import thumbnail

__all__ = ["Ahead"]

_CARDS = 16  # of those to come
_EXAMPLES = 5  # of a group: those on its tile, and one to practise on


class Ahead:
    """Makes small copies in a thread of its own: at the start, and after every card."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._folder = thumbnails_of(session.url)
        self._made: set[int] = set()
        self._waiting = self._closed = False
        self._worker: ThreadPoolExecutor | None = None
        if session.rows.folder is not None:
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pictures")

    def look(self, annotator: str = ME) -> None:
        """Make those of the cards that somebody will likely get; returns at once."""
        if self._worker is None or self._waiting:
            return
        self._waiting = True
        self._worker.submit(self._make, annotator)

    def close(self) -> None:
        """End after the copy that is being made."""
        self._closed = True
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self, annotator: str) -> None:
        """Make what there is none of."""
        self._waiting = False
        with suppress(AskmeansError):  # whoever asks for the card is told
            for row in self._rows(annotator):
                if self._closed:
                    return
                if row in self._made:
                    continue
                path = self._session.rows.image_file(row)
                if path is not None:
                    thumbnail(path, self._folder)
                self._made.add(row)

    def _rows(self, annotator: str) -> Iterator[int]:
        """Items of the next card, then examples, then items of the cards after it."""
        first, *later = self._session.upcoming(_CARDS, annotator=annotator) or [()]
        yield from first
        for group in self._session.groups:
            yield from self._session.exemplars(group.number, _EXAMPLES)
        for items in later:
            yield from items
