"""What a person reads where the page refuses something: what they did, and how to go on."""

import html
import re
import time
from urllib.parse import unquote

import pytest
from soaking import in_soak

from askmeans import sessions
from askmeans.exceptions import (
    DataError,
    OtherDataError,
    ParameterError,
    RankError,
    StoreBusyError,
    StoreDamagedError,
    StoreFullError,
    StoreReadOnlyError,
)
from askmeans.web import create_app
from askmeans.web.drafts import Drafts, Plan
from askmeans.web.errors import explain

# What is of a program: parameters, classes, rules with a value, representations of Python.
JARGON = re.compile(
    r"parameter|argument|\w+\.\w+\(|Session\b|\bGot\b|must (be|have|come)|There must|"
    r"\bNone\b(?! of these)|\b(int|float|str|tuple|dict|NaN|nan|True|False|HTTP)\b|"
    r"'[^' ]+'|[\[\]{}<>]|\w+_\w+|\w+Error\b|=|Traceback|askmeans \w+|the server replied"
)


def assert_is_plain(sentence):
    assert sentence
    assert not JARGON.search(sentence), sentence
    assert sentence.endswith("."), sentence


def sentence_of(client, reply):
    """What a reply tells of a refusal; None where it is none."""
    if reply.status_code == 303:
        left = unquote(client.cookies.get("askmeans_said", ""))
        client.cookies.delete("askmeans_said")
        return left[1:] if left.startswith("!") else None
    if reply.status_code < 400:
        return None
    text = html.unescape(reply.text)
    if reply.headers["content-type"].startswith("text/plain"):
        return text
    if "<h1>Sign in</h1>" in text or 'class="failed">' in text:
        return re.search(r'class="failed">(.+?)</p>', text)[1]
    if 'id="question"' in text:
        return html.unescape(re.search(r'data-said="([^"]*)"', reply.text)[1])
    title, sentence = re.search(r"<h1>(.+?)</h1>\s*<p[^>]*>(.+?)</p>", text, re.DOTALL).groups()
    assert title in ("That did not work", "There is no such page", "This is not for you to do")
    assert re.search(r'class="button" href="/(signin)?"', text)  # and a way on
    return sentence


@pytest.fixture
def page(tmp_path, tools):
    """A session that asks for groups, with answers of ann; a client that sends its forms."""
    made = sessions.create(
        tmp_path / "fruit.db", [[float(place)] for place in range(6)], n_clusters=2,
        items=tools.FRUIT, ids=tools.FRUIT, cluster_names=["small", "large"], budget=4,
        random_state=0,
    )  # fmt: skip
    made.close()
    with tools.using(create_app(tmp_path / "fruit.db", settle_seconds=0.0)) as client:
        yield Sender(client, tools)


class Sender:
    """Sends forms as the page does."""

    def __init__(self, client, tools, name="ann"):
        self.client, self.name = client, name
        self.session = client.app.state.context.session
        self.fields = {
            "token": tools.token_of(client), "annotator": name,
            "session": client.app.state.context.assignments.mark,
        }  # fmt: skip

    def post(self, path, *, script=False, **fields):
        """What the page tells where it refuses a form."""
        sent = {key: value for key, value in (self.fields | fields).items() if value is not None}
        headers = {"x-askmeans": "part"} if script else {}
        return sentence_of(self.client, self.client.post(path, data=sent, headers=headers))

    def get(self, path):
        return sentence_of(self.client, self.client.get(path))

    def open(self):
        """A question that is open for ann."""
        return self.session.ask(annotator=self.name)[0].id

    def answered(self, value=0):
        number = self.open()
        self.session.tell(number, value, annotator=self.name)
        return number


def answered_twice(page):
    return page.post("/answer", question=page.answered(), key="k", value="group-1")


def key_of_another_answer(page):
    first, value = page.open(), "group-0"
    page.post("/answer", question=first, key="k", value=value)
    return page.post("/answer", question=page.open(), key="k", value=value)


def sent_again_after_undo(page):
    number = page.open()
    page.post("/answer", question=number, key="k", value="group-0")
    page.session.undo(number, annotator="ann")
    return page.post("/answer", question=number, key="k", value="group-0")


def beyond_the_budget(page):
    number = page.session.ask(annotator="bob")[0].id
    page.answered()
    page.session.settings.set_budget(1)
    return page.post("/answer", question=number, key="k", value="group-0")


def a_group_that_was_merged_away(page):
    number = page.session.groups.add("huge")
    page.session.undo()
    return page.post("/answer", question=page.open(), key="k", value=f"group-{number}")


def changed_since(page):
    number = page.answered()
    event = page.session.history.answers()[-1].event
    page.session.change(number, 1, annotator="ann")
    return page.post("/undo", key="k", question=number, event=event)


def a_link_that_ended(page):
    page.session.people.invite("bob")
    number = page.session.people.invites()[-1].number
    page.session.people.revoke(number)
    return page.post("/revoke", number=number)


def a_change_that_was_taken_back(page):
    event = page.session.groups.rename(0, "tiny").event
    page.session.history.take_back(event)
    return page.post("/take-back", event=event)


def an_older_regrouping(page):
    page.session.groups.add("huge")
    first = page.session.history.changes()[-1].event
    page.session.groups.add("tiny")
    return page.post("/take-back", event=first)


def split_of_anothers_items(page):
    number = page.session.ask(annotator="bob")[0].id
    page.session.tell(number, 0, annotator="bob")
    row = page.session.question(number).items[0]
    return page.post("/split", group=0, name="odd", **{f"row-{row}": "1"})


def more_groups_than_items(page):
    return [page.post("/groups", name=f"group {place}") for place in range(5)][-1]


def removing_the_only_group(page):
    assert page.post("/remove", group=0) is None
    return page.post("/remove", group=1)


def answering_with_a_removed_group(page):
    question = page.open()
    page.session.groups.remove(1)
    return page.post("/answer", question=question, key="k", value="group-1")


def signed_out(page):
    page.client.post("/signout", data=page.fields)
    return page.post("/answer", question=1, key="k", value="group-0", script=True)


MOVES = {  # done in this order, and what is read in the end
    answered_twice: "You have answered this question before",
    key_of_another_answer: "This page sent another answer before",
    sent_again_after_undo: "you took this answer back since",
    beyond_the_budget: "The budget is spent",
    a_group_that_was_merged_away: "This group is not there any more",
    changed_since: "You have changed this answer since the page was loaded",
    a_link_that_ended: "This link has ended already",
    a_change_that_was_taken_back: "This change was taken back before",
    an_older_regrouping: "Groups were added or merged after this one",
    split_of_anothers_items: "has no answer of yours any more",
    more_groups_than_items: "There are 6 items",
    removing_the_only_group: "This is the only group",
    answering_with_a_removed_group: "it was merged, removed or taken back",
    signed_out: "You are not signed in here any more",
}
FORMS_REFUSED = [
    ("/answer", {"question": "open", "value": "0.5"}, "names no group"),
    ("/answer", {"question": "open", "value": "shares", "share-0": "70", "share-1": "80"},
     "sum to more than 100 %"),
    ("/answer", {"question": "open", "value": "shares", "share-0": "much"}, "Type a number"),
    ("/answer", {"question": "open", "value": "new"}, "Type a name"),
    ("/answer", {"question": "99", "value": "none"}, "no such question"),
    ("/answer", {"value": "none"}, "came incomplete"),
    ("/answer", {"annotator": "bob"}, "another person's"),
    ("/answer", {"session": "other"}, "another session"),
    ("/answer", {"token": "other"}, "Reload"),
    ("/undo", {}, "You have no answer that could be taken back"),
    ("/undo", {"question": "open"}, "You have no answer to"),
    ("/rename", {"cluster": 9, "name": "tiny"}, "This group is not there any more"),
    ("/rename", {"cluster": 0, "name": "large"}, "Another group is called “large”"),
    ("/rename", {"cluster": 0, "name": "id"}, "tables use it"),
    ("/rename", {"cluster": 0, "name": ""}, "Type a name first"),
    ("/rename", {"cluster": 0, "name": "x" * 81}, "at most 80 letters"),
    ("/rename", {"cluster": 0, "name": "a\nb"}, "no line breaks"),
    ("/rename", {"cluster": 0, "name": "small", "about": "x" * 201}, "at most 200"),
    ("/groups", {"name": "large"}, "Another group is called “large”"),
    ("/merge", {"into": 0, "group": 0}, "cannot be merged with itself"),
    ("/merge", {"into": 0, "group": 7}, "This group is not there any more"),
    ("/remove", {"group": 7}, "This group is not there any more"),
    ("/remove", {"group": "x"}, "came incomplete"),
    ("/split", {"group": 0, "name": "odd"}, "No item was chosen"),
    ("/look", {"group": 7, "move": "up"}, "This group is not there any more"),
    ("/look", {"group": 0}, "came incomplete"),
    ("/check", {"session": "other"}, "another session"),
    ("/pin", {"group": 7, "row": 1}, "This group is not there any more"),
    ("/pin", {"group": 0, "row": 99}, "There is no item 99"),
    ("/review", {"row": 99, "value": "group-0"}, "There is no item 99"),
    ("/adjudicate", {"question": "open", "value": "group-0"}, "nothing to decide"),
    ("/options", {"guidelines": "x" * 20_001}, "20,001 characters"),
    ("/good-enough", {"percent": "101"}, "from 0 to 100"),
    ("/good-enough", {"percent": "few"}, "Type a number"),
    ("/options", {"guidelines": "ع" * 20_000}, "too long to be sent"),
    ("/options", {"back": "http://a.example"}, "came incomplete"),
    ("/budget", {"n": 0}, "Type a whole number from 1 up"),
    ("/budget", {"n": "many"}, "Type a whole number"),
    ("/invite", {"name": "bob", "role": "king", "days": 3}, "as annotators or as owners"),
    ("/invite", {"name": "bob", "role": "owner", "days": 10**6}, "3,650 days at most"),
    ("/invite", {"name": "bob", "role": "owner", "days": -1}, "Type a number from 0"),
    ("/invite", {"name": "gold", "role": "owner", "days": 1}, "uses itself"),
    ("/invite", {"name": "model: x", "role": "owner", "days": 1}, "language models"),
    ("/invite", {"name": "x" * 90, "role": "owner", "days": 1}, "at most 80 letters"),
    ("/signin", {"link": "nothing"}, "not valid any more"),
]  # fmt: skip
ADDRESSES_REFUSED = {
    "/?question=5": "no such question",
    "/?question=x": "no page at this address",
    "/nowhere": "no page at this address",
    "/answer": "no page at this address",
    "/items/99": "There is no item 99",
    "/items/x": "no page at this address",
    "/find?q=kale": "No item has “kale”",
    "/export/x.csv": "There is no such file",
    "/image/2": "has no image",
}


@pytest.mark.parametrize("moves", MOVES)
def test_a_refused_move_says_what_the_person_did_and_how_to_go_on(page, moves):
    sentence = moves(page)
    assert_is_plain(sentence)
    assert MOVES[moves] in sentence


@pytest.mark.parametrize("script", [False, True])
def test_a_refused_form_says_what_was_sent_and_how_to_go_on(page, script):
    for path, fields, told in FORMS_REFUSED:
        question = page.open() if fields.get("question") == "open" else fields.get("question")
        sent = {"key": "k"} | fields | {"question": question}
        sentence = page.post(path, script=script, **sent)
        assert sentence, (path, fields)
        assert_is_plain(sentence)
        assert told in sentence


def test_a_refused_address_says_what_is_not_there(page):
    for path, told in ADDRESSES_REFUSED.items():
        sentence = page.get(path)
        assert_is_plain(sentence)
        assert told in sentence


FORMS = {  # of every form of the page, what may be sent
    "/answer": {"question": "1", "key": "k", "value": "group-0", "shown": "0", "change": "",
                "name": "odd", "share-0": "50", "fine": "0.5"},
    "/undo": {"key": "u", "question": "1", "event": "1"},
    "/stop": {}, "/renew": {}, "/leave": {"key": "k"},
    "/practice": {"card": "1", "value": "group-0"},
    "/signin": {"link": "x"}, "/signout": {}, "/name": {"name": "Ada"},
    "/models": {"url": "http://127.0.0.1:9/v1", "model": "m", "max_tokens": "9", "max_cost": "",
                "price_in": "", "price_out": "", "items": "1"},
    "/models/stop": {},
    "/history/change": {"question": "1", "key": "k", "value": "group-0", "event": "1",
                        "back": "/history"},
    "/rename": {"cluster": "0", "name": "tiny", "about": "All.", "back": "/groups"},
    "/names": {"name-0": "tiny"},
    "/groups": {"name": "odd"}, "/merge": {"into": "0", "group": "1"},
    "/remove": {"group": "0"}, "/split": {"group": "0", "name": "odd", "row-0": "1"},
    "/refine": {"group": "0", "names": "a,b"}, "/flatten": {"group": "0"},
    "/move-group": {"group": "1", "into": "0"},
    "/take-back": {"event": "1", "move": "k"},
    "/items/move": {"key": "k", "value": "group-0", "row-1": "1", "all": "", "n": "1", "page": "1",
                    "group": "0", "below": "70", "area": "1,2", "sort": "group", "by": "ann"},
    "/pin": {"row": "1", "group": "0", "off": ""}, "/review": {"row": "1", "value": "group-0"},
    "/adjudicate": {"question": "1", "value": "group-0"},
    "/check": {},
    "/look": {"group": "0", "move": "up", "color": ""},
    "/options": {"purpose": "x", "guidelines": "y", "predicted_first": "1"},
    "/pause": {"off": "1"}, "/budget": {"n": "3"}, "/good-enough": {"percent": "5"},
    "/invite": {"name": "bob", "role": "owner", "days": "3"}, "/revoke": {"number": "99"},
}  # fmt: skip
STRANGE = [None, "", "x", "-1", "99", "nan", "1e999", "0.37", "group-9", "id", "é" * 300, "a\x00b"]


@pytest.mark.parametrize("ask", ["group", in_soak("membership"), in_soak("similarity")])
def test_no_form_tells_of_parameters_whatever_is_sent(tmp_path, tools, ask):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path, ask=ask, levels=5 if ask == "membership" else None).close()
    app = create_app(path, settle_seconds=0.0)
    forms = {
        route.path for route in app.routes if "POST" in (getattr(route, "methods", None) or ())
    }
    assert forms - {"/api/ask", "/api/answers", "/api/undo"} == set(FORMS)
    refusals = 0
    with tools.knocking(app) as client:
        for place, (form, fields) in enumerate(FORMS.items()):
            tools.sign_in(client, app, f"ann {place}")  # nobody sends too much
            sender = Sender(client, tools, f"ann {place}")
            app.state.context.session.ask(annotator=sender.name)
            for field in fields:
                for strange in STRANGE:
                    sent = fields | {field: strange}
                    sentence = sender.post(form, script=form == "/answer", **sent)
                    if sentence is not None:
                        refusals += 1
                        assert_is_plain(sentence.replace(f"“{strange}”", ""))  # what was typed
    assert refusals > 100


@pytest.mark.parametrize("ask", ["membership", "similarity"])
def test_no_new_group_is_made_where_no_card_asks_for_groups(tmp_path, tools, ask):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path, ask=ask).close()
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        page = Sender(client, tools)
        refusal = page.post("/answer", question=page.open(), key="k", value="new", name="huge")
        assert_is_plain(refusal)
        assert "A new group can be made only where" in refusal


def test_what_is_wrong_with_the_server_is_told_without_its_words():
    told = "The 'x' parameter of y must be z. Got None instead."
    kinds = [ParameterError, DataError, OtherDataError, RankError, StoreBusyError, StoreFullError,
             StoreReadOnlyError, StoreDamagedError]  # fmt: skip
    for kind in kinds:
        assert_is_plain(explain(kind(told)))
    assert str(kinds[0](told)) == told  # programs and the log have it whole


def test_programs_still_read_which_parameter_it_was(page):
    headers = {"X-CSRF-Token": page.fields["token"]}
    reply = page.client.post(
        "/api/answers", json={"question": page.open(), "key": "k", "value": 9}, headers=headers
    )
    assert "Got 9 instead" in reply.json()["detail"]


TABLE = "text,topic,price,code\n" + "\n".join(
    f"message {n} about {3 * n},a{n % 2},{n},K{n % 3}" for n in range(6)
)
UNFIT = [
    ("empty.csv", "", {}),
    ("header.csv", "text,price\n", {}),
    ("uneven.csv", "a,b\n1,2\n1,2,3\n1,2,3,4\n", {}),
    ("twice.json", "[[1, 2], [3]]", {}),
    ("broken.json", "[1,", {}),
    ("broken.xlsx", "PK", {}),
    ("broken.parquet", "PAR1", {}),
    ("broken.zip", "PK", {}),
    ("program.exe", "x", {}),
    ("same.csv", "x\n" + "same\n" * 9, {}),
    ("table.csv", TABLE, {"uses": {"code": "id"}}),
    ("table.csv", TABLE, {"uses": {"code": "id", "topic": "id"}}),
    ("table.csv", TABLE, {"n_clusters": 50}),
    ("table.csv", TABLE, {"n_clusters": 0}),
    ("table.csv", TABLE, {"names": ("a", "a"), "descriptions": ("", "")}),
    ("table.csv", TABLE, {"names": ("id", "a"), "descriptions": ("", "")}),
    ("table.csv", TABLE, {"names": ("a", "b"), "descriptions": ("x" * 999, "")}),
    ("table.csv", TABLE, {"title": "shop/one"}),
    ("table.csv", TABLE, {"title": "shop.db"}),
    ("table.csv", TABLE, {"title": "..."}),
    ("table.csv", TABLE, {"title": "x" * 300}),
    ("table.csv", TABLE, {"uses": dict.fromkeys(("text", "price"), "shown")}),
    *(("table.csv", TABLE, {"uses": {name: "feature"}, "kinds": {name: kind}})
      for name, kind in (("price", "date"), ("topic", "number"), ("topic", "date"),
                         ("text", "number"), ("text", "boolean"), ("price", "text"))),
    ("infinite.csv", "x,y\n1,inf\n2,2\n3,4\n", {}),
    ("vectors.json", '[{"v": [1, 2]}, {"v": [1]}]', {"uses": {"v": "feature"}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "plan"), UNFIT)
def test_a_refused_project_says_what_is_wrong_with_the_file_or_the_choices(
    tmp_path, name, content, plan
):
    drafts = Drafts(tmp_path)
    draft = drafts.new()
    file = draft.folder / name
    file.write_text(content)
    drafts.read(draft, file)
    settle(draft)
    if draft.is_read:
        drafts.make(draft, Plan(**{"title": "shop", "n_clusters": 2, **plan}))
        settle(draft)
    drafts.close()
    assert draft.made is None
    assert_is_plain(draft.trouble.replace(name, "a file").replace("/", ""))


def settle(draft):
    """Wait until a draft has been read or made."""
    while draft.stage is not None:
        time.sleep(0.01)
