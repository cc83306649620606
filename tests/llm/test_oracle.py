"""Asking a language model: prompts, votes, money, failures, and going on after a kill."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from injections import INJECTIONS, MARKS
from model_server import Broken, completion, serving
from numpy.testing import assert_allclose, assert_array_equal

from askmeans import ActiveFuzzyKMeans
from askmeans.exceptions import (
    DataError,
    ModelBusyError,
    ModelError,
    ParameterError,
    QueryError,
    StopAsking,
)
from askmeans.llm import ModelOracle, Reply, model_client
from askmeans.llm.cost import RefusedError
from askmeans.queries import (
    GroupQueries,
    MembershipQueries,
    PairQueries,
    RelativeQueries,
    TripletQueries,
)
from askmeans.testing import OracleContract

A, B = '{"group": "A"}', '{"group": "B"}'


def scripted(answer):
    """A client that answers by a function of the data it is sent, and keeps what it was asked."""

    def client(messages, **options):
        client.asked.append((messages, options))
        return answer(json.loads(messages[1]["content"]))

    client.asked = []
    return client


def oracle_of(answer, show, **options):
    client = answer if hasattr(answer, "asked") else scripted(answer)
    return ModelOracle(client, show=show, **{"guidelines": "Judge.", **options})


class TestContract(OracleContract):
    kinds = ("membership", "group", "pair", "triplet")

    def make_oracle(self):
        def answer(data):
            if "item" in data:
                number = int(data["item"]["text"])
                return json.dumps({"group": "ABC"[number % 3]})
            return json.dumps({"similarity": 0.5})

        def client(messages, **_):
            if '"membership"' in messages[0]["content"]:
                return '{"membership": 0.25}'
            return answer(json.loads(messages[1]["content"]))

        return ModelOracle(client, guidelines="", show=[str(i) for i in range(self.n_items)])


def test_every_kind_of_question_is_asked_and_answered():
    replies = {
        "Say to which": A, "Say how much": '{"membership": 0.75}',
        "Say how similar": '{"similarity": 0.5}', "Say whether": '{"more_like": "c"}',
    }  # fmt: skip

    def client(messages, **_):
        return next(r for start, r in replies.items() if messages[0]["content"].startswith(start))

    oracle = ModelOracle(client, guidelines="Judge.", show=["x", "y", "z"], names=["one", "two"])
    assert oracle.answer(GroupQueries([0], 2)).tolist() == [[1.0, 0.0]]
    assert oracle.answer(MembershipQueries([0], [1])).tolist() == [0.75]
    assert oracle.answer(PairQueries([[0, 1]])).tolist() == [0.5]
    assert oracle.answer(TripletQueries([[0, 1, 2]])).tolist() == [0.5]
    assert oracle.answer(RelativeQueries([[0, 1, 2]])).tolist() == [0.0]


def test_guidelines_and_names_are_instructions_and_the_item_is_data():
    client = scripted(lambda _: A)
    oracle = oracle_of(client, [{"colour": "red", "size": 3}], guidelines="Ripe is red.",
                       names=["ripe", "unripe"])  # fmt: skip
    oracle.answer(GroupQueries([0], 2))
    (system, user), _ = client.asked[0]
    assert [system["role"], user["role"]] == ["system", "user"]
    assert "Ripe is red." in system["content"]
    assert '{"A": "ripe", "B": "unripe"}' in system["content"]
    assert json.loads(user["content"]) == {"item": {"colour": "red", "size": 3}}


def test_exemplars_are_data_and_never_the_item_itself():
    client = scripted(lambda _: A)
    oracle_of(client, ["x", "y", "z"], exemplars=[[0, 1], [2]]).answer(GroupQueries([0], 2))
    data = json.loads(client.asked[0][0][1]["content"])
    assert data == {"examples": {"A": [{"text": "y"}], "B": [{"text": "z"}]},
                    "item": {"text": "x"}}  # fmt: skip


def test_a_data_frame_is_shown_row_by_row():
    pandas = pytest.importorskip("pandas")
    client = scripted(lambda _: A)
    frame = pandas.DataFrame({"word": ["x", "y"], "size": [1.5, math.nan]})
    oracle_of(client, frame).answer(GroupQueries([1], 2))
    assert json.loads(client.asked[0][0][1]["content"]) == {"item": {"word": "y", "size": "nan"}}


def test_a_path_is_sent_as_a_picture_and_a_text_never_is(tmp_path):
    picture = tmp_path / "p.png"
    picture.write_bytes(b"not really")
    seen = []

    def take(messages, **_):
        seen.append(messages[1]["content"])
        return A

    oracle = ModelOracle(take, guidelines="", show=[{"name": "x", "file": picture}, str(picture)])
    oracle.answer(GroupQueries([0, 1], 2))
    with_picture = next(content for content in seen if not isinstance(content, str))
    assert with_picture[1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert sum(isinstance(content, str) for content in seen) == 1


def test_what_is_no_answer_is_asked_again_once_and_then_nobody_can_say():
    client = scripted(lambda _: "I think it is A.")
    oracle = oracle_of(client, ["x"])
    assert np.isnan(oracle.answer(GroupQueries([0], 2))).all()
    assert len(client.asked) == 2
    assert "not of this form" in client.asked[1][0][0]["content"]
    assert "not of this form" not in client.asked[0][0][0]["content"]


def test_the_second_try_counts():
    replies = iter(["nonsense", B])
    assert oracle_of(lambda _: next(replies), ["x"]).answer(GroupQueries([0], 2))[0, 1] == 1.0


def test_votes_are_shares_of_those_who_could_say():
    def client(_, **options):
        return [A, A, B, '{"group": null}'][options["seed"]]

    oracle = ModelOracle(client, guidelines="", show=["x"], votes=4)
    assert_allclose(oracle.answer(GroupQueries([0], 2)), [[2 / 3, 1 / 3]])


def test_probabilities_of_the_label_are_shares():
    likely = {"A": math.log(0.6), " B": math.log(0.3), "the": math.log(0.1)}
    told = [('{"', {}), ("group", {}), ('": "', {}), ("A", likely), ('"}', {})]
    oracle = ModelOracle(lambda *_, **__: Reply(A, logprobs=told), guidelines="", show=["x"])
    assert_allclose(oracle.answer(GroupQueries([0], 2)), [[2 / 3, 1 / 3]])


def test_the_probability_of_none_is_left_of_the_row():
    likely = {"A": math.log(0.5), "none": math.log(0.3), "B": math.log(0.2)}
    for said, token in (("A", "A"), ("none", "none"), ("none", "n")):
        top = {("n" if token == "n" and key == "none" else key): p for key, p in likely.items()}
        told = [('{"', {}), ("group", {}), ('": "', {}), (token, top), ('"}', {})]
        reply = Reply(f'{{"group": "{said}"}}', logprobs=told)
        oracle = ModelOracle(lambda *_, r=reply, **__: r, guidelines="", show=["x"])
        assert_allclose(oracle.answer(GroupQueries([0], 2)), [[0.5, 0.2]])


def test_the_same_run_again_costs_nothing_and_gives_the_same(tmp_path):
    client = scripted(lambda data: A if data["item"]["text"] < "m" else B)
    for calls in (3, 0):
        oracle = oracle_of(client, ["x", "a", "y"], cache=tmp_path / "replies.db")
        answers = oracle.answer(GroupQueries([0, 1, 2, 1], 2))
        assert oracle.spent.calls == calls
        assert answers.argmax(axis=1).tolist() == [1, 0, 1, 0]
    assert len(client.asked) == 3


@pytest.mark.parametrize("change", [
    {"guidelines": "Other."}, {"names": ["p", "q"]}, {"temperature": 0.5}, {"votes": 2},
    {"exemplars": [[1], []]},
])  # fmt: skip
def test_what_is_asked_otherwise_is_asked_anew(tmp_path, change):
    client = scripted(lambda _: A)
    oracle_of(client, ["x", "y"], cache=tmp_path / "c").answer(GroupQueries([0], 2))
    oracle_of(client, ["x", "y"], cache=tmp_path / "c", **change).answer(GroupQueries([0], 2))
    assert len(client.asked) > 1


def test_what_the_client_sends_otherwise_is_asked_anew_and_within_the_budget(tmp_path):
    client = scripted(lambda _: A)
    oracle_of(client, ["x"], cache=tmp_path / "c").answer(GroupQueries([0], 2))
    client.extra = {"max_completion_tokens": 5000}
    small = oracle_of(client, ["x"], cache=tmp_path / "c", max_tokens=4000)
    with pytest.raises(StopAsking):
        small.answer(GroupQueries([0], 2))
    assert small.is_spent
    oracle_of(client, ["x"], cache=tmp_path / "c").answer(GroupQueries([0], 2))
    assert len(client.asked) == 2


def test_a_cache_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "c").write_text("This is a poem, and long enough to be read as a file. " * 50)
    with pytest.raises(DataError, match="cache"):
        oracle_of(lambda _: A, ["x"], cache=tmp_path / "c")


def test_a_repeat_is_asked_anew():
    client = scripted(lambda _: A)
    oracle_of(client, ["x"]).answer(GroupQueries([0, 0], 2, repeat=[0, 1]))
    assert len(client.asked) == 2


def test_money_and_tokens_are_counted_as_the_endpoint_counts_them():
    def client(*_, **__):
        return Reply(A, tokens_in=1000, tokens_out=10)

    oracle = ModelOracle(client, guidelines="", show=["x", "y"], prices=(2.0, 10.0))
    oracle.answer(GroupQueries([0, 1], 2))
    spent = oracle.spent
    assert (spent.calls, spent.tokens_in, spent.tokens_out) == (2, 2000, 20)
    assert spent.money == pytest.approx(2000 * 2e-6 + 20 * 10e-6)


@pytest.mark.parametrize("tokens", [10**30, -5])
def test_tokens_that_no_request_can_take_are_estimated(tmp_path, tokens):
    failures = [ModelBusyError("counted", tokens=(tokens, tokens))]

    def client(*_, **__):
        if failures:
            raise failures.pop()
        return Reply(A, tokens_in=tokens, tokens_out=tokens)

    oracle = ModelOracle(client, guidelines="", show=["x"], cache=tmp_path / "c.db")
    assert np.isnan(oracle.answer(GroupQueries([0], 2))).all()
    assert oracle.answer(GroupQueries([0], 2)).tolist() == [[1.0, 0.0]]
    spent = oracle.spent
    assert 0 < spent.tokens_in + spent.tokens_out == spent.estimated < 10_000


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    "limit", [{"max_cost": 0.05, "prices": (10.0, 10.0)}, {"max_tokens": 5000}]
)
def test_the_budget_is_a_hard_stop_and_what_was_said_is_kept(concurrency, limit):
    def client(*_, **__):
        return Reply(A, tokens_in=500, tokens_out=20)

    show = ["x" * 10 + str(i) for i in range(100)]
    oracle = ModelOracle(client, guidelines="", show=show, concurrency=concurrency, **limit)
    with pytest.raises(StopAsking) as stop:
        oracle.answer(GroupQueries(np.arange(100), 2))
    spent = oracle.spent
    assert 0 < spent.tokens_in + spent.tokens_out <= 5000
    assert stop.value.reached.sum() == spent.calls
    assert (stop.value.answers[stop.value.reached, 0] == 1.0).all()
    assert stop.value.__cause__ is None


def test_requests_under_way_are_waited_for_before_a_budget_ends_all():
    def client(*_, **__):
        time.sleep(0.02)  # so that several are under way
        return Reply(A, tokens_in=100, tokens_out=5)

    oracle = ModelOracle(client, guidelines="", show=[f"x{i}" for i in range(100)], max_tokens=5000)
    with pytest.raises(StopAsking):
        oracle.answer(GroupQueries(np.arange(100), 2))
    spent = oracle.spent.tokens_in + oracle.spent.tokens_out
    most, left = map(
        int, re.search(r"up to (\d+), and (\d+) of 5000 are left", oracle.refusal).groups()
    )
    assert left == 5000 - spent < most < 1000


def test_a_budget_holds_over_runs_with_the_same_cache_and_for_each_model(tmp_path):
    def client(*_, **__):
        return Reply(A, tokens_in=500, tokens_out=20)

    def ask(name="m", **limit):
        client.name = name
        # One at a time: how many fit in is else a matter of who holds what at the end.
        oracle = ModelOracle(client, guidelines="", show=[f"x{i}" for i in range(100)],
                             cache=tmp_path / "c", concurrency=1, **limit)  # fmt: skip
        try:
            oracle.answer(GroupQueries(np.arange(100), 2))
        except StopAsking:
            assert oracle.is_spent
        return oracle

    first = ask(max_tokens=5000)
    again = ask(max_tokens=5000)
    assert 0 < first.spent.calls < 10
    assert again.spent.calls == 0  # what was spent before is spent
    assert again.spent_in_all.tokens_in == first.spent.tokens_in
    assert 0 < ask(max_cost=0.012, prices=(1.0, 1.0)).spent.calls < 20  # what is left of more
    assert again.spent_in_all.tokens_in + again.spent_in_all.tokens_out <= 12_000
    assert ask("another", max_tokens=5000).spent.calls == first.spent.calls


def test_what_is_written_without_a_limit_cannot_be_within_a_budget():
    client = scripted(lambda _: A)
    client.extra = {"max_tokens": None}
    with pytest.raises(ParameterError, match="max_completion_tokens"):
        oracle_of(client, ["x"], max_tokens=10_000)
    assert oracle_of(client, ["x"]).answer(GroupQueries([0], 2))[0, 0] == 1.0
    client.extra |= {"max_completion_tokens": 5000}
    oracle = oracle_of(client, ["x"], max_tokens=5000)
    with pytest.raises(StopAsking):
        oracle.answer(GroupQueries([0], 2))  # the prompt and 5,000 are more


def test_tries_that_fail_are_in_the_account_and_count_against_the_budget():
    failures = [
        ModelBusyError("counted", tokens=(700, 30)), TimeoutError("too slow"),
        ModelBusyError("cut off", tokens=(None, None)), ModelBusyError("429"),
        ConnectionRefusedError("nobody there"),
    ]  # fmt: skip
    left = list(failures)

    def client(*_, **__):
        if left:
            raise left.pop(0)
        return Reply(A, tokens_in=100, tokens_out=5)

    oracle = ModelOracle(client, guidelines="", show=["x"], votes=1)
    while left:
        assert np.isnan(oracle.answer(GroupQueries([0], 2))).all()
    oracle.answer(GroupQueries([0], 2))
    (read,), spent = {oracle.forecast(GroupQueries([0], 2, repeat=[1])).tokens_in}, oracle.spent
    assert (spent.calls, spent.failed) == (1, 5)
    assert spent.tokens_in == 700 + 100 + 2 * read
    assert spent.tokens_out == 30 + 5 + 2 * 224  # as many as it might have written
    assert spent.estimated == 2 * read + 2 * 224
    left += failures[:1] * 3
    small = ModelOracle(client, guidelines="", show=["x"], max_tokens=2500)
    for _ in range(3):
        assert np.isnan(small.answer(GroupQueries([0], 2))).all()
    with pytest.raises(StopAsking):
        small.answer(GroupQueries([0], 2))
    assert small.is_spent
    assert small.spent.tokens_in + small.spent.tokens_out <= 2500


def test_a_model_at_another_endpoint_is_another(tmp_path):
    client = scripted(lambda _: A)
    for url in ("http://one/v1", "http://two/v1", "http://one/v1"):
        client.url = url
        oracle_of(client, ["x"], cache=tmp_path / "c").answer(GroupQueries([0], 2))
    assert len(client.asked) == 2


def test_a_forecast_of_what_is_written_is_by_what_is_known_or_may_be():
    client = scripted(lambda _: Reply(A, tokens_in=9, tokens_out=80))
    client.extra = {"max_tokens": None, "max_completion_tokens": 2000}
    oracle = oracle_of(client, ["x", "y"])
    assert oracle.forecast(GroupQueries([0, 1], 2)).tokens_out == 4000  # it may think
    oracle.answer(GroupQueries([0], 2))
    assert oracle.forecast(GroupQueries([0, 1], 2)).tokens_out == 80


def test_a_forecast_asks_nothing_and_knows_what_is_cached():
    client = scripted(lambda _: A)
    oracle = oracle_of(client, ["x", "y", "z"], prices=(1.0, 1.0))
    oracle.answer(GroupQueries([0], 2))
    told = oracle.forecast(GroupQueries([0, 1, 2, 2], 2))
    assert (told.calls, told.remembered, len(client.asked)) == (2, 1, 1)
    assert told.tokens_in > 50
    assert 0.0 < told.money < 0.01


def test_tries_that_a_client_made_again_are_in_the_account():
    replies = [Reply(A, tokens_in=50, tokens_out=5, lost_tries=2)]

    def client(*_, **__):
        if replies:
            return replies.pop()
        raise ModelBusyError("slow", lost_tries=3)

    oracle = ModelOracle(client, guidelines="", show=["x", "y"], concurrency=1)
    read = oracle.forecast(GroupQueries([0], 2)).tokens_in
    oracle.answer(GroupQueries([0, 1], 2))
    spent = oracle.spent
    assert (spent.calls, spent.failed) == (1, 2 + 3 + 1)
    assert spent.tokens_in == 50 + 5 * read
    assert spent.tokens_out == 5 + 5 * 224  # as many as it may have written
    assert spent.estimated == 5 * (read + 224)


def test_a_question_that_keeps_failing_is_told_and_asked_again_next_time():
    down = {"y"}

    def answer(data):
        if data["item"]["text"] in down:
            raise ConnectionError("gone")
        return A

    oracle = oracle_of(answer, ["x", "y", "z"])
    answers = oracle.answer(GroupQueries([0, 1, 2], 2))
    assert np.isnan(answers[:, 0]).tolist() == [False, True, False]
    assert [question.items for question in oracle.failed] == [(1,)]
    down.clear()
    assert oracle.answer(GroupQueries([1], 2))[0, 0] == 1.0
    assert not oracle.failed


def test_a_model_that_is_down_is_left_alone_soon():
    def late(_):
        raise TimeoutError("slow")

    client = scripted(late)
    oracle = oracle_of(client, [str(i) for i in range(500)], concurrency=2)
    with pytest.raises(StopAsking) as stop:
        oracle.answer(GroupQueries(np.arange(500), 2))
    assert len(client.asked) < 50
    assert isinstance(stop.value.__cause__, ModelError)


def test_a_refusal_ends_it_with_what_was_said():
    def answer(data):
        if data["item"]["text"] == "z":
            raise ModelError("no such model")
        return A

    oracle = oracle_of(answer, ["x", "y", "z"], concurrency=1)
    with pytest.raises(StopAsking) as stop:
        oracle.answer(GroupQueries([0, 1, 2], 2))
    assert isinstance(stop.value.__cause__, ModelError)
    assert stop.value.reached.tolist() == [True, True, False]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_it_with_what_was_said_and_makes_no_further_request():
    answered, once = [], threading.Lock()

    def answer(data):
        number = int(data["item"]["text"])
        if number >= 5:  # whichever comes first: after it, all others wait
            while len(answered) < 5:  # another thread may be slow to begin
                time.sleep(0.01)
            if once.acquire(blocking=False):
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.0)  # the main thread looks five times a second
            raise ModelBusyError("later")
        answered.append(number)
        return A

    oracle = oracle_of(answer, [str(i) for i in range(50)], concurrency=2)
    with pytest.raises(StopAsking) as stop:
        oracle.answer(GroupQueries(np.arange(50), 2))
    assert stop.value.reached.tolist() == [i < 5 for i in range(50)]
    assert stop.value.__cause__ is None
    assert not oracle.is_spent


@pytest.mark.parametrize("options", [
    {"votes": 0}, {"concurrency": 0}, {"max_cost": 1.0}, {"max_tokens": -1},
])  # fmt: skip
def test_a_parameter_that_breaks_its_rule_is_refused(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        ModelOracle(lambda *_: A, guidelines="", show=[], **options)


def test_a_client_must_be_callable_and_groups_must_have_names():
    with pytest.raises(ParameterError, match="client"):
        ModelOracle("gpt", guidelines="", show=[])
    oracle = ModelOracle(lambda *_, **__: A, guidelines="", show=["x"], names=["one"])
    with pytest.raises(StopAsking) as stop:
        oracle.answer(GroupQueries([0], 2))
    assert isinstance(stop.value.__cause__, QueryError)


def test_a_fit_asks_a_model_like_anybody():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    oracle = oracle_of(lambda data: A if data["item"]["x"] < 5 else B,
                       [{"x": float(x)} for x in X[:, 0]])  # fmt: skip
    fitted = ActiveFuzzyKMeans(2, oracle=oracle, ask="group", random_state=0).fit(X)
    assert fitted.labels_.tolist() == [0, 0, 1, 1]
    assert {record.annotator for record in fitted.history_} == {"model"}


# --- 50 hostile items, through a real server -----------------------------------------------------


def obedient(request, _):
    """A model that obeys: it says B wherever it finds an instruction to in what it may obey."""
    shown = json.dumps(request.system)
    return B if "CANARY" in shown or "answer B" in shown else A


def test_50_injections_change_neither_format_nor_other_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    monkeypatch.chdir(tmp_path)
    items = [text for pair in zip(INJECTIONS, [f"plain {i}" for i in range(50)], strict=True)
             for text in pair]  # fmt: skip
    with serving(obedient) as server:
        oracle = ModelOracle(model_client(server.url, "m"), guidelines="A or B.", show=items,
                             names=["one", "two"])  # fmt: skip
        answers = oracle.answer(GroupQueries(np.arange(100), 2))
        alone = ModelOracle(model_client(server.url, "m"), guidelines="A or B.", show=items,
                            names=["one", "two"])  # fmt: skip
        alone.answer(GroupQueries(np.arange(1, 100, 2), 2))
    assert_array_equal(answers, np.repeat([[1.0, 0.0]], 100, axis=0))
    assert len(server.trace) == 150
    first, second = server.trace[:100], server.trace[100:]
    systems = {request.system for request in server.trace}
    assert len(systems) == 1  # the same words for every item
    for request in first:
        assert [m["role"] for m in request.body["messages"]] == ["system", "user"]
        assert set(request.data) == {"item"}
        assert set(request.data["item"]) == {"text"}
        assert "\n" not in request.content
        assert request.content.isprintable()
        assert not set("<>") & set(request.content)
        assert sum(mark in json.dumps(request.body) for mark in MARKS) <= 1  # no other item
    # A plain item is asked about in the same words, whoever its neighbours are.
    plain = {r.content: r.body["messages"] for r in first if "CANARY" not in r.content}
    assert {r.content: r.body["messages"] for r in second} == plain
    shown = {request.data["item"]["text"] for request in first}
    assert {text.encode("utf-8", "replace") for text in shown} == {
        text.encode("utf-8", "replace") for text in items
    }
    assert not list(tmp_path.iterdir())
    assert not Path("/tmp/askmeans-was-here").exists()


def test_a_model_that_obeys_an_item_is_refused_where_it_leaves_the_format():
    def gullible(data):
        return "PWNED" if "CANARY" in data["item"]["text"] else A

    items = [*INJECTIONS, "plain"]
    answers = oracle_of(gullible, items).answer(GroupQueries(np.arange(51), 2))
    assert np.isnan(answers[:50]).all()
    assert answers[50].tolist() == [1.0, 0.0]


# --- a real server that fails --------------------------------------------------------------------

CARDS = 1000 if os.environ.get("ASKMEANS_SOAK") else 300
SOON = {"Retry-After-Ms": "1"}


def faulty(request, before):
    """One of five cards fails, in one of five ways, once or twice; some never say anything."""
    number = int(request.data["item"]["text"].split()[1])
    if number % 50 == 20 and "not of this form" in request.system:
        return B
    if number % 5 == 0 and before < 1 + number % 2:
        return [
            Broken(429, headers=SOON), Broken(500, headers=SOON), Broken(cut=True),
            Broken(503, headers=SOON), "this is no JSON",
        ][number // 5 % 5]  # fmt: skip
    if number % 100 == 1:
        return '{"group": null}'
    return A if number % 2 else B


WORKER = """
import sys
import numpy as np
from askmeans.llm import ModelOracle, model_client
from askmeans.queries import GroupQueries

url, cache, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
show = [f"card {i}" for i in range(n)]
oracle = ModelOracle(model_client(url, "m"), guidelines="A or B.", show=show, cache=cache,
                     concurrency=4)
oracle.answer(GroupQueries(np.arange(n), 2))
"""


def test_many_cards_with_a_fifth_failing_killed_and_resumed(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    cache = tmp_path / "replies.db"
    paths = os.pathsep.join([str(Path(__file__).parents[1] / "helpers"), *sys.path])
    with serving(faulty) as server:
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, server.url, str(cache), str(CARDS)],
            env={**os.environ, "PYTHONPATH": paths},
        )
        while server.served < 0.3 * CARDS and worker.poll() is None:
            time.sleep(0.01)
        worker.send_signal(signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL
        before = server.served
        oracle = ModelOracle(
            model_client(server.url, "m"), guidelines="A or B.", cache=cache,
            show=[f"card {i}" for i in range(CARDS)], concurrency=4, prices=(1.0, 4.0),
        )  # fmt: skip
        tokens_before, broken_before = list(server.tokens), server.broken
        answers = oracle.answer(GroupQueries(np.arange(CARDS), 2))
        assert server.served == before + oracle.spent.calls
        tokens = [now - then for now, then in zip(server.tokens, tokens_before, strict=True)]
        again = ModelOracle(
            model_client(server.url, "m"), guidelines="A or B.", cache=cache,
            show=[f"card {i}" for i in range(CARDS)],
        )  # fmt: skip
        assert_array_equal(again.answer(GroupQueries(np.arange(CARDS), 2)), answers)
        assert again.spent.calls == 0
    # All answered or "cannot say", and rightly.
    number = np.arange(CARDS)
    silent = (number % 100 == 1) | (number % 50 == 45)
    assert np.isnan(answers[silent]).all()
    assert_array_equal(answers[~silent, 0], number[~silent] % 2)
    assert not oracle.failed
    # None twice, but for those that were under way when it was killed.
    repairs = (number % 25 == 20).sum()
    assert 0 <= server.served - CARDS - repairs <= 4
    # And the cost is what the server counted, beside estimates of what it cut off.
    spent = oracle.spent
    assert spent.tokens_in + spent.tokens_out - spent.estimated == sum(tokens)
    assert spent.failed <= server.broken - broken_before  # refused tries are not billed
    assert (spent.failed > 0) == (spent.estimated > 0)
    assert spent.money == pytest.approx(spent.tokens_in * 1e-6 + spent.tokens_out * 4e-6)
    assert oracle.spent_in_all.tokens_in > spent.tokens_in  # what was spent before it was killed
    raw = b"".join(file.read_bytes() for file in tmp_path.iterdir())  # the -wal file, too
    assert b"sk-secret" not in raw
    assert b"card 17" not in raw  # neither keys nor items are kept


def test_a_server_that_keeps_silent_is_not_waited_for(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def script(_, before):
        return A if before else Broken(delay=1.0)

    with serving(script) as server:
        client = model_client(server.url, "m", timeout=0.5)
        oracle = ModelOracle(client, guidelines="", show=["x"])
        assert oracle.answer(GroupQueries([0], 2))[0, 0] == 1.0
        assert len(server.trace) >= 2  # a busy machine may be late, too
    assert completion(A, server.trace[0])["usage"]["completion_tokens"] > 0


def test_the_same_text_at_the_same_time_is_asked_once_and_answered_alike():
    calls = []

    def answer(data):
        calls.append(data["item"]["text"])
        time.sleep(0.01)
        return A if len(calls) % 2 else B

    oracle = oracle_of(answer, ["same"] * 8, concurrency=4)
    first = oracle.answer(GroupQueries(np.arange(8), 2))
    assert calls == ["same"]
    assert (first == first[0]).all()


def test_what_cannot_be_written_in_utf_8_is_kept_and_costs_once(tmp_path):
    calls = []

    def answer(data):
        calls.append(data["item"]["text"])
        return A + " \ud800"

    for _ in range(2):
        oracle = oracle_of(answer, ["one"], cache=tmp_path / "cache.db")
        oracle.answer(GroupQueries([0], 2))
    assert len(calls) <= 2  # one, and a try to repair it; the second run costs nothing


def test_an_item_that_the_endpoint_refuses_does_not_silence_the_others():
    def answer(data):
        if data["item"]["text"] == "bad":
            raise RefusedError("400: too long")
        return A

    oracle = oracle_of(answer, ["good", "bad", "good too"])
    found = oracle.answer(GroupQueries([0, 1, 2], 2))
    assert np.isnan(found[1]).all()
    assert found[[0, 2], 0].tolist() == [1.0, 1.0]
    assert len(oracle.failed) == 1
