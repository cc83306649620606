"""Gold answers: known before, asked now and then as if they were not, and what people said then."""

from collections.abc import Iterable
from dataclasses import dataclass

from askmeans.exceptions import SessionError
from askmeans.queries import Answer
from askmeans.sessions.imported import checked_answers
from askmeans.sessions.log import GOLD, EventKind, NewEvent
from askmeans.sessions.opinions import Opinions
from askmeans.sessions.reports import Held
from askmeans.sessions.store.contract import Transaction
from askmeans.shares import difference

__all__ = ["GoldAnswers", "GoldScore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldScore:
    """How somebody answered the gold questions.

    Parameters
    ----------
    questions : int
        How many of them they answered.
    difference : float
        How far their answers are from the known ones on average, from 0 to 1.

    Examples
    --------
    >>> GoldScore(questions=2, difference=0.5).questions
    2
    """

    questions: int
    difference: float


class GoldAnswers(Opinions):
    """The part of `Session` that is about questions whose answers are known."""

    def add_gold(self, answers: Iterable[Answer]) -> Held:
        """Mix questions whose answers are known with the others, unmarked.

        Everybody gets one as every tenth question, as long as there are some that they have not
        answered. They cost no budget; the known answers are evidence, and what people say to them
        tells how far to rely on each (`gold_report`). With the option "gold_feedback" the receipt
        of an answer has the known one.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Of the kind that the session asks, and not "cannot say".

        Returns
        -------
        Held
            How many were new, there already, or there otherwise; those stay as they are.

        Raises
        ------
        SessionError
            If a plan of the paper asks, or an answer is to another kind of question.
        QueryError, AnswerError, KeyConflictError
            As in `hold`; then none is taken in.

        Examples
        --------
        >>> import askmeans.sessions
        >>> from askmeans.queries import Answer
        >>> session = askmeans.sessions.create("gold.db", [[1.0], [2.0], [8.0], [9.0]],
        ...     n_clusters=2, random_state=0)
        >>> session.add_gold([Answer(round=0, kind="group", items=(3,), cluster=None, repeat=0,
        ...                          value=(0.0, 1.0))]).new
        1
        """
        listed = list(answers)
        kinds = {answer.kind for answer in listed} - {self.config.ask}
        if self.config.has_plan or kinds:
            raise SessionError(
                "Gold answers need the default strategy, since a plan of the paper asks its own "
                "questions only, and must be to questions of the kind that the session asks "
                f"({self.config.ask}). Got {', '.join(sorted(kinds)) or 'a plan'}; make a session "
                "without a strategy, or compare people by their agreement (Session.agreement)."
            )

        def take(transaction: Transaction) -> Held:
            told = checked_answers(listed, len(self.rows), self._runtime.groups.n)
            if None in told.values():
                raise SessionError("A gold answer must say something. Got 'cannot say'.")
            new = otherwise = 0
            numbers = transaction.add_questions(list(told))
            for number, value in zip(numbers, told.values(), strict=True):
                known = self._runtime.state.gold.get(number)
                if known is None:
                    new += 1
                    transaction.append(
                        NewEvent(kind=EventKind.GOLD, annotator=GOLD, question=number, value=value)
                    )
                else:
                    otherwise += known.value != value
            return Held(new=new, there=len(told) - new - otherwise, otherwise=otherwise)

        return self._runtime.write(take)

    def gold_report(self) -> dict[str, GoldScore]:
        """How everybody answered the gold questions that they got.

        Returns
        -------
        dict of str to GoldScore
            By annotator; "cannot say" is not counted.

        Examples
        --------
        >>> open("fruit.db").gold_report()
        {}
        """
        said = self._opinions()
        with self._runtime.lock:
            groups = self._runtime.groups
            known = {n: event.value for n, event in self._runtime.state.gold.items()}
        apart: dict[str, list[float]] = {}
        for number, truth in known.items():
            if isinstance(truth, tuple):
                truth = groups.row_now(truth)
            for name, value in said.get(number, {}).items():
                assert truth is not None
                apart.setdefault(name, []).append(difference(value, truth))
        return {
            name: GoldScore(questions=len(each), difference=sum(each) / len(each))
            for name, each in sorted(apart.items())
        }
