"""The client for endpoints: what it sends, its errors, and where the key is not."""

import io
import json
import logging
import pickle
import tracemalloc

import pytest
from model_server import Broken, completion, serving

from askmeans.exceptions import ModelBusyError, ModelError, ParameterError
from askmeans.llm import ModelOracle, model_client
from askmeans.queries import GroupQueries

KEY = "sk-secret-123"
MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": '{"item": 1}'}]


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.usefixtures("key")
def test_it_sends_the_key_in_a_header_and_tells_what_it_cost():
    with serving(lambda *_: '{"group": "A"}') as server:
        reply = model_client(server.url, "small")(MESSAGES, temperature=0.0, max_tokens=9)
    assert reply == '{"group": "A"}'
    (request,) = server.trace
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "small"
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.0, 9)
    assert [reply.tokens_in, reply.tokens_out] == server.tokens


def test_without_a_key_no_header_is_sent_and_nobody_else_s_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-123")
    with serving(lambda *_: "x") as server:
        model_client(server.url, "m")(MESSAGES)
    assert "authorization" not in server.trace[0].headers


def test_probabilities_are_asked_for_and_told():
    token = {"token": "A", "logprob": -0.1, "bytes": None,
             "top_logprobs": [{"token": "A", "logprob": -0.1, "bytes": None}]}  # fmt: skip
    with serving(lambda request, _: completion("A", request, logprobs=[token])) as server:
        reply = model_client(server.url, "m", logprobs=True, extra={"seed": 1})(MESSAGES)
    assert server.trace[0].body["logprobs"] is True
    assert server.trace[0].body["seed"] == 1
    assert reply.logprobs == (("A", {"A": -0.1}),)


def test_extra_options_take_the_place_of_others_and_none_is_not_sent():
    extra = {"temperature": None, "max_tokens": None, "max_completion_tokens": 50}
    with serving(lambda *_: "x") as server:
        model_client(server.url, "m", extra=extra)(MESSAGES, temperature=0.0, max_tokens=9)
    sent = set(server.trace[0].body)
    assert sent == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize("broken", [
    Broken(429), Broken(500), Broken(503), Broken(408), Broken(cut=True),
    Broken(200, body='{"choices": nonsense'), Broken(200, body='{"hello": 1}'),
    Broken(200, body='{"choices": []}'), Broken(200, body="[]"), Broken(200, body=""),
])  # fmt: skip
@pytest.mark.usefixtures("key")
def test_a_failure_that_may_pass_is_a_busy_error(broken):
    with serving(lambda *_: broken) as server:
        with pytest.raises(ModelBusyError):
            model_client(server.url, "m", retries=0)(MESSAGES)
        assert len(server.trace) == 1


@pytest.mark.usefixtures("key")
def test_failures_are_tried_again_and_tries_without_a_reply_may_be_billed():
    soon = {"Retry-After-Ms": "1"}
    script = [Broken(429, headers=soon), Broken(cut=True), Broken(503, headers=soon), "x"]
    with serving(lambda _, before: script[before]) as server:
        reply = model_client(server.url, "m")(MESSAGES)
        assert (reply, reply.lost_tries) == ("x", 1)  # the one that was cut off
        assert len(server.trace) == 4
    broken = Broken(500, headers=soon)
    with serving(lambda *_: broken) as server, pytest.raises(ModelBusyError) as busy:
        model_client(server.url, "m", retries=2)(MESSAGES)
    assert (len(server.trace), busy.value.lost_tries) == (3, 0)


@pytest.mark.parametrize(("broken", "tokens"), [
    (Broken(500), None), (Broken(429), None), (Broken(cut=True), (None, None)),
    (Broken(500, body='{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}'), (7, 2)),
    (Broken(422, body='{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}'), (7, 2)),
    (Broken(200, body='{"choices": nonsense'), (None, None)),
    (Broken(200, body='{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}'),
     (7, 2)), (Broken(delay=0.6), (None, None)),
])  # fmt: skip
@pytest.mark.usefixtures("key")
def test_a_failure_says_what_it_may_cost(broken, tokens):
    with serving(lambda *_: broken) as server:
        client = model_client(server.url, "m", timeout=0.4 if broken.delay else 60.0, retries=0)
        with pytest.raises(ModelError) as failed:
            client(MESSAGES)
    assert (failed.value.tokens, failed.value.lost_tries) == (tokens, 0)


@pytest.mark.usefixtures("key")
def test_what_cannot_be_reached_costs_nothing():
    with serving(lambda *_: "x") as server:
        url = server.url
    with pytest.raises(ModelBusyError) as failed:
        model_client(url, "m", retries=1)(MESSAGES)
    assert (failed.value.tokens, failed.value.lost_tries) == (None, 0)


@pytest.mark.usefixtures("key")
def test_a_key_that_the_endpoint_sends_back_reaches_neither_answer_nor_cache(tmp_path):
    def echo(request, _):
        sent = request.headers["authorization"]
        letters = [{"token": letter, "logprob": 0.0, "bytes": None, "top_logprobs": []}
                   for letter in sent]  # fmt: skip
        return completion(f"You sent {sent}.", request, logprobs=letters)

    with serving(echo) as server:
        client = model_client(server.url, "m", logprobs=True)
        reply = client(MESSAGES)
        oracle = ModelOracle(client, guidelines="", show=["x"], cache=tmp_path / "c")
        oracle.answer(GroupQueries([0], 2))
        kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())  # c and c-wal
    assert reply == "You sent Bearer ***."
    assert reply.logprobs == ()
    assert b"You sent Bearer ***" in kept
    assert KEY.encode() not in kept


def test_a_key_that_is_no_secret_changes_no_answer(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "A")
    with serving(lambda *_: '{"group": "A"}') as server:
        assert model_client(server.url, "m")(MESSAGES) == '{"group": "A"}'


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
@pytest.mark.usefixtures("key")
def test_what_is_refused_is_not_worth_another_try(status):
    body = f'{{"error": {{"message": "wrong key {KEY}"}}}}'
    broken = Broken(status, body=body)
    with serving(lambda *_: broken) as server, pytest.raises(ModelError) as refused:
        model_client(server.url, "m")(MESSAGES)
    assert not isinstance(refused.value, ModelBusyError)
    assert str(status) in str(refused.value)
    assert KEY not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.usefixtures("key")
def test_the_key_is_in_no_log_no_repr_and_no_file(caplog):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    root.addHandler(handler)
    before, root.level = root.level, logging.DEBUG
    try:
        with serving(lambda _, n: Broken(401, body=f'"{KEY}"') if n else "x") as server:
            client = model_client(server.url, "m")
            client(MESSAGES)
            with pytest.raises(ModelError):
                client(MESSAGES)
    finally:
        root.removeHandler(handler)
        root.level = before
    assert KEY not in stream.getvalue() + caplog.text + repr(client) + repr(vars(client))
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        pickle.dumps(client)


@pytest.mark.parametrize("url", [
    "ftp://host/v1", "localhost:8000", "http://name:word@host/v1", "https://host/v1?key=abc",
])  # fmt: skip
def test_a_url_with_a_key_in_it_is_refused_without_repeating_it(url):
    with pytest.raises(ParameterError, match="OPENAI_API_KEY") as refused:
        model_client(url, "m")
    assert "word" not in str(refused.value).split("passwords")[1]
    assert "abc" not in str(refused.value)


def packed(body, **headers):
    """A reply of status 200 with a body of one's own."""
    return Broken(status=200, body=body, headers=headers)


LONG = json.dumps({"choices": [], "padding": " " * 30_000_000}).encode()


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_of_more_than_a_megabyte_is_refused_while_it_comes(status):
    with serving(lambda *_: Broken(status=status, body=LONG)) as server:
        client = model_client(server.url, "m")
        with pytest.raises(ModelBusyError):  # everything is imported
            model_client("http://127.0.0.1:9/v1", "m", retries=0)(MESSAGES)
        tracemalloc.start()
        with pytest.raises(ModelError, match=r"must reply with at most 1 MB. Got more; check"):
            client(MESSAGES)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip", "br"])
def test_replies_are_asked_for_unpacked_and_a_packed_one_is_refused_in_a_sentence(coding):
    with serving(lambda *_: packed(b"{}", **{"Content-Encoding": coding})) as server:
        with pytest.raises(ModelError, match="The endpoint must reply without compression"):
            model_client(server.url, "m", retries=0)(MESSAGES)
        assert server.trace[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("count", ["1e400", "1" + "0" * 30, "[" * 50_000 + "]" * 50_000])
def test_an_error_with_an_odd_count_of_tokens_is_an_error_like_any(count):
    body = f'{{"usage": {{"prompt_tokens": {count}, "completion_tokens": 1}}}}'
    refused = pytest.raises(ModelBusyError, match="503")
    with serving(lambda *_: Broken(status=503, body=body)) as server, refused:
        model_client(server.url, "m", retries=0)(MESSAGES)


def test_a_reply_nested_deeply_is_no_answer():
    refused = pytest.raises(ModelBusyError, match="not of the protocol")
    with serving(lambda *_: packed("[" * 400_000 + "]" * 400_000)) as server, refused:
        model_client(server.url, "m")(MESSAGES)
