"""A real OpenAI-compatible server in this process, with scripted answers and failures.

    with serving(script) as server:
        ... server.url, server.trace

`script(request, n)` gets what a client sent (a `Request`) and how often this very content was asked
before; it returns what the model writes, a `Broken`, or a whole body as a dict.
"""

import json
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Broken:
    """A reply that is none: a status, a body cut off or in disorder, seconds of silence before."""

    status: int = 500
    body: str | bytes = '{"error": {"message": "out of order"}}'
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    delay: float = 0.0


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def system(self):
        return self.body["messages"][0]["content"]

    @property
    def content(self):
        return self.body["messages"][1]["content"]

    @property
    def data(self):
        """The user's message as JSON."""
        content = self.content
        return json.loads(content if isinstance(content, str) else content[0]["text"])


class Server:
    """Where it is, and all that was sent to it."""

    def __init__(self, script):
        self.script = script
        self.trace: list[Request] = []
        self.served = 0  # whole answers
        self.broken = 0  # replies that are none
        self.tokens = [0, 0]
        self.lock = threading.Lock()
        self._seen = Counter()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def reply(self, request):
        key = json.dumps(request.body, sort_keys=True)
        with self.lock:
            self.trace.append(request)
            before = self._seen[key]
            self._seen[key] += 1
        return self.script(request, before)


@contextmanager
def serving(script):
    """A server that answers by the script."""
    server = Server(script)
    thread = threading.Thread(target=server._http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server._http.shutdown()
        server._http.server_close()
        thread.join()


def completion(text, request, *, logprobs=None):
    """The body of an answer, with the tokens that it counts."""
    tokens_in = len(json.dumps(request.body["messages"])) // 4
    choice = {
        "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text},
        "logprobs": None if logprobs is None else {"content": logprobs},
    }  # fmt: skip
    return {
        "id": "1", "object": "chat.completion", "created": 0, "model": request.body["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": len(text) // 4 + 1,
                  "total_tokens": tokens_in + len(text) // 4 + 1},
    }  # fmt: skip


def _handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(body=body, headers={n.lower(): v for n, v in self.headers.items()})
            found = server.reply(request)
            try:
                if isinstance(found, Broken):
                    with server.lock:
                        server.broken += 1
                    self._break(found)
                    return
                whole = found if isinstance(found, dict) else completion(found, request)
                self._send(200, json.dumps(whole), {})
            except OSError:
                return  # the client has gone
            with server.lock:
                server.served += 1
                server.tokens[0] += whole["usage"]["prompt_tokens"]
                server.tokens[1] += whole["usage"]["completion_tokens"]

        def _break(self, broken):
            time.sleep(broken.delay)
            if not broken.cut:
                self._send(broken.status, broken.body, broken.headers)
                return
            self.send_response(200)  # more is promised than comes
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [{"mess')
            self.close_connection = True

        def _send(self, status, text, headers):
            data = text if isinstance(text, bytes) else text.encode()
            # A date of the script's own takes the place of the server's.
            (self.send_response_only if "Date" in headers else self.send_response)(status)
            self.send_header("Content-Type", "application/json")
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    return Handler
