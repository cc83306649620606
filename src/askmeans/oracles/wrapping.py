"""What oracles have in common that change another oracle's answers."""

from askmeans.driver import Oracle, annotators_of
from askmeans.queries import Queries

__all__ = ["WrappingOracle"]


class WrappingOracle:
    """Names whomever the other oracle names."""

    oracle: Oracle

    def who(self, queries: Queries) -> list[str] | None:
        """Who answers each question: whoever the other oracle names.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            The questions.

        Returns
        -------
        list of str or None
            A name each; None where it names nobody.

        Examples
        --------
        >>> from askmeans.oracles import CrowdOracle, NoisyOracle, TableOracle
        >>> from askmeans.queries import PairQueries
        >>> crowd = CrowdOracle([TableOracle.from_labels([0, 1])])
        >>> NoisyOracle(crowd, std=0.1).who(PairQueries([[0, 1]]))
        ['annotator 0']
        """
        return annotators_of(self.oracle, queries)
