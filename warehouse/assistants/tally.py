"""The tally of a conversation: the number of tests in it, and how small a p-value has to be after that many tests.

If one asks often enough, pure chance produces a small p-value. The tally shows this in numbers.
"""

from __future__ import annotations

from typing import Any

from warehouse.results import Result

LEVEL = 0.05
"""The significance level for the tally, which is also the default level of statements."""


class TallyOfTests:
    """The tests so far. The same question about the same data counts once, because its answer is the same."""

    def __init__(self) -> None:
        self.questions = 0
        self._p_values: dict[str, tuple[float, ...]] = {}

    def add(self, result: Result) -> None:
        """Counts an answer. Statements that only list something are not counted."""
        self.questions += result.signed
        if result.p_values:
            self._p_values[result.signature] = result.p_values

    def as_dict(self) -> dict[str, Any]:
        """The numbers. `bonferroni` gives the level divided by the number of p-values, and how many p-values are at
        most that.
        """
        known = [p for p_values in self._p_values.values() for p in p_values]
        corrected = LEVEL / max(1, len(known))
        return {
            "questions": self.questions,
            "tested": len(self._p_values),
            "p_values": len(known),
            "level": LEVEL,
            "at_most_level": sum(p <= LEVEL for p in known),
            "bonferroni": {"level": corrected, "at_most_level": sum(p <= corrected for p in known)},
        }

    def sentence(self) -> str:
        """The tally in words."""
        numbers = self.as_dict()
        tested, count, small = numbers["tested"], numbers["p_values"], numbers["at_most_level"]
        bonferroni = numbers["bonferroni"]
        if count == 1:
            return "this is the first p-value of this conversation; each further one makes a small p by chance likelier"
        questions = "1 question" if tested == 1 else f"{tested:,} different questions"
        return (
            f"so far {questions} of this conversation tested something and gave {count:,} p-values: {small:,} at most "
            f"{LEVEL}, of which about {LEVEL * count:.3g} would be expected by chance if nothing differed. "
            f"Bonferroni over all {count:,} asks for p of at most {bonferroni['level']:.2g}, which "
            f"{_are(bonferroni['at_most_level'])}. Report how many were tested, not only the small ones"
        )


def _are(count: int) -> str:
    return "none is" if count == 0 else "1 is" if count == 1 else f"{count:,} are"
