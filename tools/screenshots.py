"""Take pictures of the page in its states: `tools/screenshots.py [FOLDER] [WORDS ...]`.

Each word selects by name, as in `tools/screenshots.py screenshots/all card dark`. Looks are light
and dark, 1440 pixels wide, 200 % zoom and a phone, and some in German, Arabic and Chinese; sessions
have 3, 8 and 15 groups, Arabic, a long text, rows of a table and pictures.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from askmeans import sessions
from askmeans.cli.example_data import make_faces_session
from askmeans.datasets import make_messages
from askmeans.datasets.pictures import MEANS
from askmeans.tables import read_items

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from browsers import FLAGS, find_browser  # type: ignore[import-not-found]  # of the tests

WIDE, ZOOMED, PHONE = ({"width": 1440, "height": 900}, {"width": 720, "height": 450},
                       {"width": 390, "height": 844})  # fmt: skip
LOOKS: dict[str, dict[str, Any]] = {
    f"{size}-{scheme}": {"viewport": viewport, "color_scheme": scheme, **more}
    for size, viewport, more in (
        ("wide", WIDE, {}), ("zoomed", ZOOMED, {"device_scale_factor": 2}),
        ("phone", PHONE, {"has_touch": True, "device_scale_factor": 2}),
    )
    for scheme in ("light", "dark")
}  # fmt: skip
LOOKS |= {
    f"{size}-{code}": {**LOOKS[f"{size}-light"], "locale": code}
    for size in ("wide", "phone") for code in ("de", "ar", "zh-CN")
}  # fmt: skip
ABOUT = {
    "delivery": "Where a parcel is, and when it comes",
    "payment": "Cards, invoices, discounts and reminders",
    "returns": "Sending something back, refunds, exchanges",
    "account": "Log in, password, app and website",
    "stock": "What is sold out or comes again",
    "advice": "Which product is right",
    "praise": "Thanks and compliments",
    "stores": "Opening hours, parking and the way there",
}
ARABIC = {
    "التوصيل والشحن": "لم يصل الطرد حتى الآن|تأخرت الشحنة أسبوعا كاملا|الطرد عند الجيران",
    "الدفع": "تم خصم المبلغ مرتين من بطاقتي|قيمة الفاتورة غير صحيحة",
    "الإرجاع والاستبدال": "أريد إعادة الحذاء لأنه صغير|وصل المصباح مكسورا|كيف أستبدل السترة",
}
MORE = ["Complaints about staff and rude calls", "Vouchers", "Press and partnerships", "Jobs",
        "Data protection and deletion of personal data", "Spam", "Other languages"]  # fmt: skip


def texts(path: Path, n_groups: int, n_answers: int, named: bool = True) -> None:
    """Messages in so many groups; some are nonsense, and one has 9,500 characters."""
    data = make_messages(252, n_topics=8)
    lines = list(data.texts)
    lines[3::60] = ["asdf jkl", "???", "1111", "qwe qwe", "."]
    long = next(row for row, topic in enumerate(data.topics) if topic == "returns")
    lines[long] = " ".join(lines[row] for row in range(252) if data.topics[row] == "returns")
    lines[long] = (f"{lines[long]}\n\n" * 9)[:9500]
    names = [*ABOUT, *MORE][:n_groups]
    table = read_items(pd.DataFrame({"text": lines}), text=["text"])
    shown = [
        {
            "text": line,
            "channel": ("mail", "chat")[row % 2],
            "received": f"2026-10-{1 + row % 28:02}",
        }
        for row, line in enumerate(lines)
    ]
    about = [ABOUT.get(name, "") for name in names]
    with sessions.create(
        path,
        table.features,
        n_clusters=n_groups,
        items=shown,
        text="text",
        random_state=0,
        cluster_names=names if named else None,
        descriptions=about if named else None,
    ) as session:
        for _ in range(n_answers):
            (question,) = session.ask(annotator="ann")
            row = question.items[0]
            number = list(ABOUT).index(data.topics[row])
            value: Any = number if number < n_groups else ()
            if len(lines[row]) < 10:
                value = ()
            session.tell(question.id, value, annotator="ann")
        if n_answers:  # and the long text as the next card
            session.add_question("group", (long,), annotator="ann")


def arabic(path: Path) -> None:
    """Messages in Arabic."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=90)
    parts = [text.split("|") for text in ARABIC.values()]
    lines = [
        f"{rng.choice(parts[kind])}. رقم الطلب {1000 + row}." for row, kind in enumerate(kinds)
    ]
    table = read_items(pd.DataFrame({"text": lines}), text=["text"])
    with sessions.create(
        path, table.features, n_clusters=3, items=lines, cluster_names=list(ARABIC), random_state=0
    ) as session:
        for _ in range(15):
            (question,) = session.ask(annotator="ann")
            session.tell(question.id, int(kinds[question.items[0]]), annotator="ann")


def rows(path: Path) -> None:
    """Rows of a table of numbers and words."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(4, size=160)
    X = np.array([[12, 300, 4.1], [60, 90, 3.0], [35, 900, 4.8], [20, 40, 2.2]])[kinds]
    X = X * rng.lognormal(sigma=0.25, size=X.shape)
    frame = pd.DataFrame(X.round(2), columns=["price", "sold per month", "stars"])
    frame["country"] = rng.choice(["Portugal", "Japan", "Chile"], size=len(frame))
    frame["launched"] = [f"20{year:02}" for year in rng.integers(10, 26, size=len(frame))]
    table = read_items(frame)
    with sessions.create(
        path,
        table,
        n_clusters=4,
        cluster_names=["Everyday", "Niche", "Bestsellers", "Leaving"],
        random_state=0,
    ) as session:
        for _ in range(20):
            (question,) = session.ask(annotator="ann")
            session.tell(question.id, int(kinds[question.items[0]]), annotator="ann")


def faces(path: Path) -> None:
    """Drawn faces."""
    make_faces_session(path)
    with sessions.open(path) as session:
        for _ in range(24):
            (question,) = session.ask(annotator="ann")
            gaps = np.square(session.rows.base[question.items[0]] - MEANS).sum(axis=1)
            session.tell(question.id, int(gaps.argmin()), annotator="ann")


SESSIONS: dict[str, Callable[[Path], None]] = {
    "3": lambda path: texts(path, 3, 30),
    "8": lambda path: texts(path, 8, 60),
    "15": lambda path: texts(path, 15, 60),
    "first": lambda path: texts(path, 8, 0),
    "unnamed": lambda path: texts(path, 8, 0, named=False),
    "arabic": arabic,
    "rows": rows,
    "faces": faces,
}
LONG = "long"  # the card of 9,500 characters, in the session of eight groups
PAGES = {"card": "/", "items": "/items", "item": "/items/7", "results": "/results",
         "groups": "/groups", "merge": "/groups/merge?group=0&into=1", "welcome": "/welcome",
         "split": "/groups/split?group=2", "history": "/history", "help": "/help",
         "signin": "/signin", "invites": "/invites"}  # fmt: skip
WHERE = {"unnamed": ("card", "groups", "welcome"), "first": ("card", "results", "groups")}


@contextmanager
def served(path: Path) -> Iterator[str]:
    """A session on a free port; gives a link for its owner."""
    import uvicorn

    from askmeans.web import create_app
    from askmeans.web.runner import listen

    app = create_app(path)
    socket = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", proxy_headers=False,
                                           timeout_graceful_shutdown=1))  # fmt: skip
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    token = app.state.context.session.people.invite("ann", role="owner")
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}/help?token={token}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def main() -> None:
    """Take those that the words select."""
    from playwright.sync_api import sync_playwright

    folder, words = Path((*sys.argv, "screenshots/all")[1]), set(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [
        (name, page, look)
        for name in SESSIONS
        for page in WHERE.get(name, PAGES)
        for look in LOOKS
        if words <= {name, page, *look.split("-")}
    ]
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for name in dict.fromkeys(each[0] for each in wanted):
            path = Path(made) / f"{name}.db"
            SESSIONS[name](path)
            with served(path) as link:
                address = link.partition("/help")[0]
                for look, options in LOOKS.items():
                    pages = [page for other, page, its in wanted if (other, its) == (name, look)]
                    context = browser.new_context(**options)
                    tab = context.new_page()
                    tab.goto(link)
                    for page in pages:
                        tab.goto(f"{address}{PAGES[page]}")
                        tab.wait_for_load_state("networkidle")
                        if page == "results" and name != "first":
                            tab.wait_for_selector("svg.scatter")
                        tab.wait_for_timeout(300)
                        tab.screenshot(path=folder / f"{name}-{page}-{look}.png",
                                       full_page=page != "card")  # fmt: skip
                    context.close()
        browser.close()


if __name__ == "__main__":
    main()
