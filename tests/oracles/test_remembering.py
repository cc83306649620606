"""An oracle with a memory: each question reaches the other oracle once."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from askmeans import ActiveFuzzyKMeans
from askmeans.exceptions import (
    AskmeansWarning,
    DataError,
    MoreClustersWarning,
    ParameterError,
    StopAsking,
)
from askmeans.oracles import (
    ConsoleOracle,
    CrowdOracle,
    NoisyOracle,
    RememberingOracle,
    TableOracle,
)
from askmeans.queries import GroupQueries, Ledger, MembershipQueries, PairQueries
from askmeans.testing import OracleContract


class TestRememberingOracle(OracleContract):
    def make_oracle(self):
        U = np.random.default_rng(0).dirichlet(np.ones(self.n_clusters), size=self.n_items)
        return RememberingOracle(TableOracle(U))


class Counting:
    """Answers 1/2 until it has had enough."""

    def __init__(self, enough):
        self.left, self.asked = enough, []

    def answer(self, queries):
        reached = np.arange(len(queries)) < self.left
        self.left -= int(reached.sum())
        self.asked += queries.item_table[reached].tolist()
        answers = np.where(reached, 0.5, np.nan)
        if reached.all():
            return answers
        raise StopAsking(answers, reached)


def test_what_is_known_is_not_asked_again():
    other = Counting(enough=10)
    oracle = RememberingOracle(other)
    oracle.answer(PairQueries([[0, 1], [1, 2]]))
    assert_array_equal(oracle.answer(PairQueries([[2, 1], [0, 3], [1, 0]])), 0.5)
    assert other.asked == [[0, 1], [1, 2], [0, 3]]


def test_answers_before_a_stop_are_kept_and_told():
    other = Counting(enough=2)
    oracle = RememberingOracle(other)
    oracle.answer(PairQueries([[0, 1]]))
    with pytest.raises(StopAsking) as stop:
        oracle.answer(PairQueries([[0, 2], [0, 3], [0, 1]]))
    assert_array_equal(stop.value.answers, [0.5, np.nan, 0.5])
    assert_array_equal(stop.value.reached, [True, False, True])
    assert oracle.ledger.n_distinct == 2


def test_a_ledger_given_is_used_and_filled():
    ledger = Ledger()
    ledger.record(PairQueries([[0, 1]]), [0.25])
    oracle = RememberingOracle(Counting(enough=1), ledger)
    assert_array_equal(oracle.answer(PairQueries([[0, 1], [0, 2]])), [0.25, 0.5])
    assert ledger.n_distinct == 2


def test_noise_is_that_of_the_other_oracle():
    table = TableOracle([[0.5, 0.5]] * 2)
    assert not RememberingOracle(table).noisy
    assert RememberingOracle(NoisyOracle(table, std=0.1, clip=False)).noisy


@pytest.mark.soak
def test_another_number_of_clusters_asks_only_what_is_new():
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(4), size=100)
    oracle = RememberingOracle(TableOracle(U))
    X = U @ rng.normal(size=(4, 3))

    def fit(k, oracle):
        return ActiveFuzzyKMeans(
            k, oracle=oracle, ask="similarity", budget=120, random_state=0
        ).fit(X)

    with pytest.warns(MoreClustersWarning):
        fit(3, oracle)
    before = oracle.ledger.n_distinct
    again = fit(4, oracle).n_queries_
    assert oracle.ledger.n_distinct - before < again


def test_what_is_no_answer_is_not_remembered():
    said = [[7.0], [0.5]]

    class Slip:
        def answer(self, _):
            return np.array(said.pop(0))

    oracle = RememberingOracle(Slip())
    assert oracle.answer(PairQueries([[0, 1]])).tolist() == [7.0]
    assert oracle.ledger.n_distinct == 0
    assert oracle.answer(PairQueries([[0, 1]])).tolist() == [0.5]


# Answers in a file

ABOUT = {"clusters": ["fruit", "vegetables"]}


def remembering(path, replies=(), **options):
    """An oracle whose person types these replies, and who keeps them in a file."""
    lines = io.StringIO("".join(f"{reply}\n" for reply in replies))
    person = ConsoleOracle(["apple", "pear", "leek"], stdin=lines, stdout=io.StringIO())
    return RememberingOracle(person, file=path, about=ABOUT, **options)


def test_a_later_run_continues_after_the_last_answer(tmp_path):
    queries = GroupQueries([0, 1, 2], 2)
    with pytest.raises(StopAsking):
        remembering(tmp_path / "a.jsonl", ["1", "?", "q"]).answer(queries)
    again = remembering(tmp_path / "a.jsonl", ["1:.25,2:.5"])
    nan = np.nan
    assert_array_equal(again.answer(queries), [[1.0, 0.0], [nan, nan], [0.25, 0.5]])
    third = remembering(tmp_path / "a.jsonl")
    assert_array_equal(third.answer(queries), [[1.0, 0.0], [nan, nan], [0.25, 0.5]])


def test_without_an_answer_there_is_no_file(tmp_path):
    with pytest.raises(StopAsking):
        remembering(tmp_path / "a.jsonl", ["q"]).answer(PairQueries([[0, 1]]))
    assert not list(tmp_path.iterdir())


def test_an_undone_answer_is_asked_again(tmp_path):
    queries = PairQueries([[0, 1], [1, 2]])
    with pytest.raises(StopAsking):
        remembering(tmp_path / "a.jsonl", ["0.1", "u", "q"]).answer(queries)
    assert remembering(tmp_path / "a.jsonl").ledger.n_distinct == 0
    assert_array_equal(remembering(tmp_path / "a.jsonl", ["1", "0"]).answer(queries), [1.0, 0.0])


def test_each_answer_of_a_person_is_on_disk_before_the_next_question(tmp_path):
    path = tmp_path / "a.jsonl"

    class Person(io.StringIO):
        n_asked = 0

        def readline(self):
            assert (len(path.read_text().splitlines()) if self.n_asked else 1) == self.n_asked + 1
            self.n_asked += 1
            return "0.5\n"

    person = ConsoleOracle(["a", "b", "c"], stdin=Person(), stdout=io.StringIO())
    RememberingOracle(person, file=path).answer(PairQueries([[0, 1], [0, 2], [1, 2]]))
    assert len(path.read_text().splitlines()) == 4


def test_a_batch_of_a_program_is_kept_with_the_names_of_its_annotators(tmp_path):
    path, table = tmp_path / "a.jsonl", TableOracle([[1.0, 0.0], [0.5, 0.5]])
    crowd = CrowdOracle([table])
    queries = MembershipQueries([0, 1], [0, 0])
    first = RememberingOracle(crowd, file=path)
    first.answer(queries)
    again = RememberingOracle(Counting(enough=0), file=path)
    assert_array_equal(again.answer(queries), [1.0, 0.5])
    assert again.who(queries) == first.who(queries) == crowd.who(queries) != ["me", "me"]


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path):
    path = tmp_path / "a.jsonl"
    with pytest.raises(StopAsking):
        remembering(path, ["0.25", "q"]).answer(PairQueries([[0, 1], [1, 2]]))
    with path.open("a") as file:
        file.write('{"kind": "pai')
    with pytest.warns(AskmeansWarning, match="last line is not complete"):
        oracle = remembering(path, ["0.5"])
    assert_array_equal(oracle.answer(PairQueries([[0, 1], [1, 2]])), [0.25, 0.5])
    assert remembering(path).ledger.n_distinct == 2


@pytest.mark.parametrize(
    "text",
    ["id,value\n1,2\n", "{}\n", '{"about": {}}\n{"kind": "pair"}\n', "[]\n", "null\n",
     '{"about": {}}\n{"kind": "trio", "items": [0], "cluster": null, "repeat": 0, "value": 1, '
     '"annotator": "me"}\n'],
)  # fmt: skip
def test_another_file_is_refused_and_stays_as_it_is(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match="must be a file of answers"):
        RememberingOracle(Counting(enough=1), file=path)
    assert path.read_text() == text


def test_answers_about_something_else_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    remembering(path, ["1"]).answer(PairQueries([[0, 1]]))
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="answers about the same clusters"):
        RememberingOracle(Counting(enough=1), file=path, about={"clusters": ["others"]})
    assert path.read_bytes() == before
