"""The proxies' configurations of docs/security.md, run by the proxies themselves."""

import re
import shutil
import socket
import ssl
import subprocess
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from missing_parts import need

from askmeans import sessions
from askmeans.web.signin import signin_cookie_name

GUIDE = Path(__file__).parents[2] / "docs" / "security.md"
NAME = "questions.example.org"
PROGRAMS = {"nginx": "/usr/sbin", "caddy": None}


def documented(begin):
    """An indented block of the guide that begins so."""
    text = GUIDE.read_text()
    block = re.search(rf"^    {re.escape(begin)}.*?\n    \}}\n", text, re.M | re.S)[0]
    return textwrap.dedent(block)


def nginx(folder, port, page, certificate):
    """What runs nginx as documented, but for places: its port, the page's, and its files."""
    log_format = re.search(r"`(log_format .*?;)`", GUIDE.read_text())[1]
    server = documented("server {").replace("listen 443", f"listen 127.0.0.1:{port}")
    server = server.replace("127.0.0.1:8420", page)
    server = server.replace("/etc/ssl/questions.pem", f"{certificate}.pem")
    server = server.replace("/etc/ssl/questions.key", f"{certificate}.key")
    server = server.replace("/var/log/nginx/questions.log", str(folder / "access.log"))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{places}{log_format}\n{server}}}\n"
    )
    return ["-e", folder / "error.log", "-p", folder, "-c", folder / "nginx.conf"]


def caddy(folder, port, page, certificate):
    """What runs caddy as documented, but for places, and with a certificate of our own."""
    site = documented(f"{NAME} {{").replace("127.0.0.1:8420", page)
    own = f"    bind 127.0.0.1\n    tls {certificate}.pem {certificate}.key\n"
    site = site.replace("{\n", "{\n" + own, 1)
    (folder / "Caddyfile").write_text(
        f"{{\n    admin off\n    https_port {port}\n    auto_https disable_redirects\n"
        f"    storage file_system {folder}\n}}\n{site}"
    )
    return ["run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


def free_port():
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@pytest.fixture(params=PROGRAMS)
def proxied(request, database, tmp_path, tools):
    """A client of the page through a proxy, who comes from 127.0.0.2."""
    name = request.param
    program = need(
        shutil.which(name) or shutil.which(name, path=PROGRAMS[name] or ""),
        name, "tools/install-proxies.sh gets it from Debian for root.",
    )  # fmt: skip
    certificate = tmp_path / "own"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "1", "-keyout", f"{certificate}.key", "-out", f"{certificate}.pem",
         "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"],
        check=True, capture_output=True,
    )  # fmt: skip
    port = free_port()
    with tools.serving(database, public_hosts=[NAME], proxies=["127.0.0.1"]) as direct:
        make = {"nginx": nginx, "caddy": caddy}[name]
        options = make(tmp_path, port, direct.removeprefix("http://"), certificate)
        with (tmp_path / "output").open("w") as output:
            command = list(map(str, [program, *options]))
            process = subprocess.Popen(command, stdout=output, stderr=output)
        trusted = ssl.create_default_context(cafile=f"{certificate}.pem")
        transport = httpx.HTTPTransport(verify=trusted, local_address="127.0.0.2")
        client = httpx.Client(
            transport=transport, base_url=f"https://127.0.0.1:{port}", headers={"host": NAME},
            event_hooks={"request": [_call_by_name]},
        )  # fmt: skip
        try:
            _wait(client, tmp_path / "output")
            yield SimpleNamespace(client=client, direct=direct, log=tmp_path / "access.log")
        finally:
            client.close()
            process.terminate()
            process.wait(timeout=60)


def _call_by_name(request):
    """Ask for the certificate of the documented name, whatever the address."""
    request.extensions["sni_hostname"] = NAME


def _wait(client, output):
    """Until proxy and page are there."""
    for _ in range(600):
        try:
            if client.get("/signin").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    pytest.fail(output.read_text())


def test_the_documented_proxy_lets_people_in_and_tells_who_they_are(proxied, database):
    client = proxied.client
    with sessions.open(database) as session:
        token, cookie = session.people.invite("ann"), f"__Host-{signin_cookie_name(session)}"
        reply = client.get(f"/?token={token}")
        assert (reply.status_code, reply.headers["location"]) == (303, "/welcome")
        assert client.cookies[cookie] == token
        header = {"origin": f"https://{NAME}", "x-forwarded-for": "9.9.9.9",
                  "x-forwarded-host": "evil.example"}  # fmt: skip
        page = client.get("/", headers=header).text
        sent = {name: re.search(f'data-{name}="([^"]+)"', page)[1]
                for name in ("session", "question", "key")}  # fmt: skip
        own = client.cookies["__Host-askmeans_token"]
        sent |= {"token": own, "annotator": "ann", "value": "0.5"}
        reply = client.post("/answer", data=sent, headers=header)
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        assert session.status().answered == 1
        assert session.history.audit()[-1].client == "page from 127.0.0.2"  # not what they sent
        elsewhere = {"host": f"{NAME}:8443", "origin": f"https://{NAME}:8443"}  # another port
        assert client.post("/renew", data=sent, headers=elsewhere).status_code == 204
    evil = client.get("/signin", headers={"host": "evil.example"})
    assert "askmeans" not in evil.text
    assert httpx.get(f"{proxied.direct}/signin", headers={"host": NAME}).status_code == 403
    if proxied.log.exists():  # nginx's
        logged = proxied.log.read_text()
        assert '"GET /" 303' in logged
        assert token not in logged
