"""The commands that serve the page, and the files it is made of."""

import json
import os
import re
import socket
import ssl
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener, urlopen

import pytest
from soaking import in_soak

import askmeans.web
from askmeans import sessions
from askmeans.cli import main
from askmeans.exceptions import ParameterError
from askmeans.web import Access, create_app, runner, serve

COMMAND = Path(sys.executable).parent / "askmeans"
ROOM = Path(askmeans.web.__file__).parent


def test_the_demo_serves_faces_with_questions_ready_and_goes_on_where_it_was(tmp_path):
    for _ in range(2):
        process = subprocess.Popen(
            [COMMAND, "demo", "--web", "--port", "0", "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(tmp_path)},
        )
        lines = [process.stdout.readline() for _ in range(2)]
        with urlopen(lines[1].split()[1], timeout=60) as reply:
            assert reply.status == 200
        process.terminate()
        assert process.wait(timeout=60) in (0, -15)
        process.stdout.close()
        assert not list(tmp_path.glob("askmeans-*"))  # no token is left in a file
        assert lines[0] == f"database: {tmp_path / 'demo' / 'faces.db'}\n"
        assert re.fullmatch(
            r"page: http://127\.0\.0\.1:\d+/\?token=[\w-]{43} \(Ctrl-C .*\)\n", lines[1]
        )
    with sessions.open(tmp_path / "demo" / "faces.db") as session:
        assert session.status().state == "asking"
        (question,) = session.ask()
        assert question.kind == "group"
        assert session.rows.image_file(question.items[0]).read_text().startswith("<svg")


def test_a_port_in_use_is_told_with_the_remedy(database):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=f"Got {port} on 127.0.0.1.*--port 0"):
            serve(database, port=port, open_browser=False)
    with pytest.raises(ParameterError, match="'port'"):
        serve(database, port=70000, open_browser=False)


def test_a_reply_in_two_parts_does_not_wait_for_the_first_to_be_acknowledged():
    with runner.listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # else asyncio sets no TCP_NODELAY


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "example.org", ""])
def test_another_address_than_loopback_is_refused_unencrypted_and_the_remedy_said(host, database):
    with pytest.raises(ParameterError, match=r"'host'.*Got.*--certificate.*--behind-proxy"):
        serve(database, host=host, open_browser=False)


@pytest.mark.parametrize(
    ("access", "said"),
    [
        ({"public_hosts": ("q.example",)}, r"'public_hosts'.*must come with --certificate"),
        ({"certificate": Path("c")}, r"'certificate' and 'key'.*together"),
        ({"certificate": Path("c"), "key": Path("k")}, r"must be files. c is not a file"),
        ({"proxies": ("127.0.0.1",)}, r"'public_hosts'.*--public-host"),
        ({"certificate": Path("c"), "key": Path("k"), "proxies": ("::1",)}, r"the proxy encrypts"),
    ],
)
def test_half_of_what_others_need_is_refused(access, said, database):
    with pytest.raises(ParameterError, match=said):
        serve(database, open_browser=False, access=Access(**access))
    with sessions.open(database) as session:
        assert session.people.invites() == []


def test_a_browser_is_given_the_link_in_a_file_that_nobody_else_may_read():
    link = "http://127.0.0.1:1/?token=secret&x=1"
    with runner.redirect_file(link) as file:
        assert "secret" not in file.as_uri()
        assert "url=http://127.0.0.1:1/?token=secret&amp;x=1" in file.read_text()
        assert file.parent.stat().st_mode & 0o077 == 0
    assert not file.parent.exists()


@contextmanager
def running(*arguments):
    """A command that serves; gives its lines."""
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments), "--port", "0", "--no-browser"], stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        yield process.stdout
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()


def make_certificate(folder, *password):
    """A certificate for localhost, c.pem, and its key, k.pem."""
    folder.mkdir(exist_ok=True)
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         *(password or ["-nodes"]), "-days", "1", "-keyout", folder / "k.pem",
         "-out", folder / "c.pem", *subject], check=True, capture_output=True,
    )  # fmt: skip
    return folder / "c.pem", folder / "k.pem"


@pytest.mark.parametrize("how", ["no certificate", "another's key", "a password"])
def test_what_is_no_certificate_with_its_key_is_refused_before_anybody_is_invited(
    database, tmp_path, how
):
    secret = ("-passout", "pass:secret") if how == "a password" else ()
    certificate, key = make_certificate(tmp_path / "a", *secret)
    if how == "no certificate":
        certificate.write_text("none")
    elif how == "another's key":
        key = make_certificate(tmp_path / "b")[1]
    access = Access(public_hosts=("localhost",), certificate=certificate, key=key)
    with pytest.raises(ParameterError, match=r"own key, in PEM, .*a password. Got .*c\.pem"):
        serve(database, open_browser=False, access=access)
    with sessions.open(database) as session:
        assert session.people.invites() == []


def test_with_a_certificate_other_machines_are_served_encrypted_by_a_name(database, tmp_path):
    make_certificate(tmp_path)
    options = ("--host", "0.0.0.0", "--public-host", "localhost")
    files = ("--certificate", tmp_path / "c.pem", "--key", tmp_path / "k.pem")
    with running("serve", database, *options, *files) as lines:
        lines.readline()
        link = re.search(r"https://localhost:\d+/\?token=[\w-]{43}", lines.readline())[0]
        trusted = ssl.create_default_context(cafile=str(tmp_path / "c.pem"))
        opener = build_opener(HTTPSHandler(context=trusted), HTTPCookieProcessor())
        page = opener.open(link, timeout=60)
        assert page.url == link.partition("?")[0] + "name"
        assert page.status == 200
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        here = Request(page.url.replace("name", "signin"), headers={"Host": "127.0.0.1"})
        by_number = opener.open(here, timeout=60)
        assert "strict-transport-security" not in by_number.headers
        port = int(link.split(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(b"GET /signin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200" not in plain.recv(4096)


def link_of(database, *options):
    """The link that a server printed, which has ended."""
    with running("serve", database, *options) as lines:
        lines.readline()
        link = lines.readline().split()[1]
        with urlopen(link, timeout=60) as reply:
            assert reply.status == 200
    return link


def test_a_server_started_again_prints_the_same_token_until_it_ends(
    database, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first, second = (link_of(database).partition("?")[2] for _ in range(2))
    assert first == second
    (file,) = (tmp_path / "state" / "askmeans").iterdir()
    assert file.stat().st_mode & 0o077 == file.parent.stat().st_mode & 0o077 == 0
    with sessions.open(database) as session:
        (invite,) = session.people.invites()
        assert (invite.role, invite.made_by) == ("owner", "askmeans serve")
        session.people.revoke(invite.number)
    third = link_of(database).partition("?")[2]
    assert third != first
    with sessions.open(database) as session:
        assert [each.state for each in session.people.invites()] == ["revoked", "valid"]


def test_a_folder_is_served_by_the_same_private_link_each_time(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "folder"
    folder.mkdir()
    links = []
    for _ in range(2):
        with running("serve", folder) as lines:
            assert lines.readline() == f"projects: {folder}\n"
            links.append(lines.readline().split()[1])
            browser = build_opener(HTTPCookieProcessor())
            with browser.open(links[-1], timeout=60) as page:
                assert page.url == links[-1].partition("?")[0] + "name"
    assert links[0].partition("?")[2] == links[1].partition("?")[2]
    with pytest.raises(ParameterError, match=r"'name'.*with a folder"):
        serve(folder, "main", open_browser=False)
    (file,) = (tmp_path / "state" / "askmeans").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert list(folder.iterdir()) == []
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "until": kept["until"] - 24 * 24 * 3600}))
    assert link_of(folder).partition("token=")[2] != kept["token"]  # less than a week is left


@pytest.mark.parametrize("days", [in_soak(0), 5])
def test_a_link_that_ends_within_a_week_is_not_used_again(database, tmp_path, monkeypatch, days):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = link_of(database)
    (file,) = (tmp_path / "state" / "askmeans").iterdir()
    with sessions.open(database) as session:
        token = session.people.invite(session.people.invites()[0].name, role="owner", days=days)
    file.write_text(json.dumps({**json.loads(file.read_text()), "token": token}))
    assert link_of(database).partition("token=")[2] not in (token, first.partition("token=")[2])


@pytest.mark.soak
def test_what_is_remembered_may_be_damaged_or_out_of_reach(database, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    links = [link_of(database)]
    (file,) = (tmp_path / "state" / "askmeans").iterdir()
    for damaged in ("[]", '{"address": "x", "token": "y"}'):
        file.write_text(damaged)
        links.append(link_of(database))
    monkeypatch.setenv("XDG_STATE_HOME", str(database))  # no folder can be made there
    links.append(link_of(database))
    assert len({link.partition("token=")[2] for link in links}) == len(links)


def test_a_token_of_an_annotator_is_not_taken_for_the_owner_s(database, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    link_of(database)
    (file,) = (tmp_path / "state" / "askmeans").iterdir()
    with sessions.open(database) as session:
        token = session.people.invite(session.people.invites()[0].name, days=30)
    file.write_text(json.dumps({**json.loads(file.read_text()), "token": token}))
    assert token not in link_of(database)


def test_an_invitation_leads_to_where_the_page_was_served_last(database, tmp_path, capsys):
    def invited(*options):
        with pytest.raises(SystemExit) as end:
            main(["invite", str(database), "Ada", *options])
        assert end.value.code in (0, None)
        return capsys.readouterr().out

    here = "It works on this machine only."
    assert "http://127.0.0.1:8420/?token=" in (shown := invited())
    assert here in shown
    assert "--address https://NAME" in shown
    page = link_of(database).partition("?")[0]
    assert f"{page}?token=" in (shown := invited())
    assert here in shown
    make_certificate(tmp_path)
    files = ("--certificate", tmp_path / "c.pem", "--key", tmp_path / "k.pem", "--log-json")
    with running(
        "serve", database, "--host", "0.0.0.0", "--public-host", "localhost", *files
    ) as lines:
        lines.readline()
        page = lines.readline().split()[1]
    assert f"{page}?token=" in invited()
    with running("serve", database, "--behind-proxy", "--public-host", "q.example.org") as lines:
        lines.readline()
        lines.readline()
    assert "\nhttps://q.example.org/?token=" in (shown := invited())
    assert here not in shown
    assert here not in invited("--address", "https://other.example.org")


def test_with_json_logs_no_token_is_made_or_printed(database):
    with running("serve", database, "--log-json") as lines:
        lines.readline()
        assert re.match(r"page: http://127\.0\.0\.1:\d+/ \(", lines.readline())
    with sessions.open(database) as session:
        assert session.people.invites() == []


def test_exports_are_what_the_command_writes(client, database, tmp_path):
    session = client.app.state.context.session
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 0.75, annotator="ann")
    with pytest.raises(SystemExit) as end:
        main(["export", str(database), "--out", str(tmp_path / "out")])
    assert end.value.code == 0
    names = {"spreadsheet": "memberships", "centers": "centers", "answers": "answers"}
    for table, written in names.items():
        reply = client.get(f"/export/{table}.csv")
        assert "attachment" in reply.headers["content-disposition"]
        text = reply.text.removeprefix("\ufeff")
        assert text == (tmp_path / f"out.{written}.csv").read_text()
    whole = client.get("/export/all.json").json()
    assert whole["answers"][0]["value"] == 0.75
    assert client.get("/export/passwords.csv").status_code == 404


def test_clusters_are_renamed_and_sessions_paused_on_the_page(client, tools):
    token = {"token": tools.token_of(client), "session": client.app.state.context.assignments.mark}
    client.post("/rename", data={**token, "cluster": "0", "name": "tiny"})
    assert client.app.state.context.session.groups.names == ["tiny", "large"]
    for cluster, name in [("9", "x"), ("1", "tiny"), ("1", "id")]:
        reply = client.post("/rename", data={**token, "cluster": cluster, "name": name})
        page = client.get(reply.headers["location"]).text
        assert re.search(r'<p id="said"[^>]* class="failed"', page)
    assert client.app.state.context.session.groups.names == ["tiny", "large"]
    client.post("/pause", data=token)
    assert client.get("/api/status").json()["state"] == "paused"
    client.post("/pause", data={**token, "off": "1"})
    assert client.get("/api/status").json()["state"] == "asking"


def test_an_item_is_found_by_its_name_or_row(client):
    assert client.get("/find?q=melon").headers["location"] == "/items/3"
    assert client.get("/find?q=4").headers["location"] == "/items/4"
    assert client.get("/find?q=nothing").status_code == 404
    assert client.get("/find?q=%C2%B2").status_code == 404  # a digit, but no row number


def test_an_item_is_found_by_a_part_of_its_name_or_text(client, tools, tmp_path):
    assert client.get("/find?q=UMPK").headers["location"] == "/items/4"
    page = client.get("/find?q=p", follow_redirects=True).text  # plum, grape, pumpkin, papaya
    assert "<strong>4</strong> of 6 items" in page
    assert re.findall(r'href="/items/(\d)"', page) == ["0", "2", "4", "5"]
    texts = [f"A story about {name}" for name in ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")]
    tools.make_fruit(tmp_path / "texts.db", items=texts, ids=None).close()
    with tools.using(create_app(tmp_path / "texts.db")) as reading:
        assert reading.get("/find?q=about ed").headers["location"] == "/items/4"
        assert reading.get("/find?q=story").headers["location"] == "/items?q=story"


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_minified():
    for file in [*ROOM.glob("static/*"), *ROOM.glob("templates/*")]:
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text.replace("http-equiv", ""), file
        if file.suffix in (".js", ".css"):
            assert max(map(len, text.splitlines())) <= 110, file
