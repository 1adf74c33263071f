"""The progress of a long comparison: what a session reports, and what is shown of it."""

from __future__ import annotations

import pytest

from evalhouse.warehouse.render.progress import clock
from evalhouse.warehouse.session.session import Session

QUESTIONS = [
    "compare F for GE, UMASS on TST3 shuffles 50000",
    "compare recall, F for GE, UMASS, SRI on TST3 shuffles 20000",
    "compare F for all on TST3, TST4 shuffles 20000",
    "compare F for GE, UMASS, SRI on TST3 exact",
    "compare accuracy for all on TST3 test wilcoxon",
    "compare F for GE, UMASS, SRI on TST3 test bootstrap shuffles 999",
    "group F for GE, UMASS, SRI on TST3 test tukey shuffles 999",
    "define measure G(w=0.5) = w*recall + (1-w)*precision; compare G, F for GE, UMASS on TST3 shuffles 20000",
]


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_share_done_grows_to_the_whole_of_each_test_set(question: str) -> None:
    shares: list[float] = []
    with Session.open() as session:
        unwatched = session.run(question).rows
        with session.watched(shares.append):
            assert session.run(question).rows == unwatched
    starts = [0, *(place for place in range(1, len(shares)) if shares[place] < shares[place - 1])]
    assert len(starts) == (2 if "TST4" in question else 1)
    assert all(0 <= share <= 1 for share in shares)
    assert max(shares) > 0.6


def test_whoever_watches_can_end_a_comparison() -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with Session.open() as session:
        with pytest.raises(KeyboardInterrupt), session.watched(stop):
            session.run(QUESTIONS[0])
        assert session.run("compare F for GE, UMASS on TST3").rows


def test_what_is_shown_is_wiped_away(capsys: pytest.CaptureFixture[str]) -> None:
    with clock() as waiting:
        waiting.tick(0.5)
        assert capsys.readouterr().err == ""
        waiting.tick(1.2)
        assert capsys.readouterr().err == "\r1 s, Ctrl-C stops it"
        waiting.progress(0.5)
        waiting.tick(2.0)
        assert capsys.readouterr().err == f"\r{'█' * 15}{'░' * 15}  50% 2 s, Ctrl-C stops it"
        waiting.tick(2.01)
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == "\r\x1b[K"
