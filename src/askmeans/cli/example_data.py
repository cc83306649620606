"""Example data that anybody can judge, made by code: messages to a shop, and painted scenes."""

import csv
import io
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError

__all__ = ["SCENES", "TOPICS", "Messages", "make_messages", "write_data"]

Floats = NDArray[np.float64]

# What customers write about; every sentence can follow every opening.
_OPENINGS = "|Hello, |Please help: |Once more: |Good morning, |I am not happy: |A question: "
_SENTENCES = {
    "delivery": "my parcel has not arrived|the courier left the parcel at the wrong door|my order "
    "is a week late|the tracking number does not work|the parcel was delivered to a neighbour|"
    "when will the courier bring my order|the van drove past my door|the parcel went to my old "
    "address",
    "payment": "my card was charged twice|the invoice shows the wrong amount|my discount is "
    "missing from the invoice|the bank says that you charged me twice|I paid by card and still get "
    "a reminder|there is a fee on my bill that I did not agree to|the price on the bill is wrong|"
    "my voucher was not taken at the checkout",
    "returns": "the shoes are too small, how do I send them back|the lamp came broken and I want a "
    "refund|I would like to exchange the jacket for a larger size|the kettle stopped working, "
    "please take it back|how long does a refund take|I have lost the label for sending it back|"
    "the jacket has a hole, I want my money back|may I exchange a gift without the receipt",
    "account": "I cannot log in to my account|the reset link for my password does not come|the app "
    "says that my email is unknown|the app crashes when I open my profile|how do I delete my "
    "account|my password is not accepted|the website has forgotten my user name|please change "
    "the email of my account",
}
TOPICS = tuple(_SENTENCES)
SCENES = ("beach", "forest", "night")


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Texts, and how much each is about which of the topics."""

    texts: list[str]
    shares: Floats

    @property
    def topics(self) -> list[str]:
        """The main topic of each."""
        return [TOPICS[number] for number in self.shares.argmax(axis=1)]


def make_messages(n: int = 160, seed: int = 0) -> Messages:
    """Messages to a shop: most have one topic, every fifth has two."""
    rng = np.random.default_rng(seed)
    shares = np.zeros((n, len(TOPICS)))
    texts = []
    for row in range(n):
        first, second = rng.permutation(len(TOPICS))[:2]
        parts = [first, second] if row % 5 == 4 else [first]
        shares[row, parts] = (0.6, 0.4) if len(parts) == 2 else 1.0
        texts.append(". ".join(_sentence(TOPICS[part], rng) for part in parts) + ".")
    return Messages(texts=texts, shares=shares)


def _sentence(topic: str, rng: np.random.Generator) -> str:
    """One thing that a customer says."""
    opening, said = (str(rng.choice(text.split("|"))) for text in (_OPENINGS, _SENTENCES[topic]))
    return f"{opening}{said}" if opening else f"{said[0].upper()}{said[1:]}"


def write_data(folder: Path, n_pictures: int = 36) -> list[Path]:
    """Write messages.csv, later.csv with more of them, and a folder of pictures."""
    rng = np.random.default_rng(0)
    files = {
        folder / "messages.csv": _table(make_messages(), first=1),
        folder / "later.csv": _table(make_messages(20, seed=1), first=161),
    }
    for number in range(n_pictures):
        left, right = rng.permutation(len(SCENES))[:2]
        share = rng.choice([0.3, 0.5, 0.7]) if number % 4 == 3 else 1.0
        picture = folder / "pictures" / f"{number + 1:02}.png"
        files[picture] = _as_png(_paint(left, right, share, rng))
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise DataError(
                f"{path} must not be there, or be what this command wrote, or it would be "
                "overwritten. Got another file; use --out for another folder."
            )
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        path.write_bytes(content)
    return [*list(files)[:2], folder / "pictures"]


def _table(messages: Messages, first: int) -> bytes:
    """A CSV file with one row per message."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["id", "message", "topic"])
    for number, row in enumerate(zip(messages.texts, messages.topics, strict=True), first):
        table.writerow([f"M{number}", *row])
    return file.getvalue().encode()


def _paint(left: int, right: int, share: float, rng: np.random.Generator) -> Floats:
    """A picture that is one scene on the left, as much of it as the share, and another beyond."""
    pixels = _scene(SCENES[left], rng)
    edge = round(share * pixels.shape[1])
    pixels[:, edge:] = _scene(SCENES[right], rng)[:, edge:]
    return pixels


def _scene(name: str, rng: np.random.Generator, height: int = 96, width: int = 128) -> Floats:
    """A beach, a forest or a city at night, in red, green and blue."""
    pixels = np.zeros((height, width, 3))
    horizon = int(height * rng.uniform(0.45, 0.6))
    if name == "beach":
        pixels[:horizon] = (140, 200, 240)
        pixels[horizon : horizon + 14] = (40, 110, 180)
        pixels[horizon + 14 :] = (235, 210, 150)
    elif name == "forest":
        pixels[:] = (60, 130, 60)
        for column in rng.integers(0, width - 6, size=9):
            pixels[8:, column : column + 6] = (90, 60, 35)
        pixels[height - 14 :] = (45, 90, 40)
    else:
        pixels[:] = (20, 22, 50)
        for column in range(4, width - 12, 18):
            roof = int(rng.integers(20, horizon))
            pixels[roof:, column : column + 14] = (45, 45, 60)
            windows = rng.random((height, 3)) < 0.15
            for row, window in np.argwhere(windows[roof : height - 6]):
                x = column + 1 + 4 * window
                pixels[roof + row : roof + row + 3, x : x + 3] = (250, 220, 110)
    return (pixels + rng.normal(0, 8, size=pixels.shape)).clip(0, 255)


def _as_png(pixels: Floats) -> bytes:
    """A picture's file, without any package that knows how to make one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels.astype(np.uint8))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
