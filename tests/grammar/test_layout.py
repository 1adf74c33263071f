"""The layout of scripts keeps their meaning and every comment, and does not change when it is applied again."""

from __future__ import annotations

import re

import pytest

from evalhouse.grammar.editing.layout import WIDEST, layout
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse

SCRIPT = """\
--   the study of 1992
let $finalists=GE,  UMASS,SRI ;
SCORE F( beta = 1 ) , recall FOR $finalists On TST3;show systems; -- all of them


-- Which differ?
compare F for $finalists  -- not all
  on TST3
     -- slow, but without chance
exact;
compare recall, precision, F for $finalists on TST3, TST4 shuffles 9_999 level 10% confidence 0.99 seed 7;
change F of filtering for all except LSI from TST3 to TST4 where document like "TST3-MUC4-00%" trim 1;
define measure G(w = 0.5)=w*recall+(1-w)* - precision - -1
  ; -- half and half
;; plot score F where(label in("a",b)) and not(document . source is not missing)or unit< - 5
-- the end"""

LAID_OUT = """\
--   the study of 1992
let $finalists = GE, UMASS, SRI;
score F(beta=1), recall for $finalists on TST3;
show systems;  -- all of them

-- Which differ?
compare F
  for $finalists  -- not all
  on TST3
  -- slow, but without chance
  exact;
compare recall, precision, F
  for $finalists
  on TST3, TST4
  shuffles 9_999
  level 10%
  confidence 0.99
  seed 7;
change F
  of filtering
  for all except LSI
  from TST3 to TST4
  where document like "TST3-MUC4-00%"
  trim 1;
define measure G(w=0.5) = w * recall + (1 - w) * -precision - -1;  -- half and half
plot score F where (label in ("a", b)) and not (document.source is not missing) or unit < -5;
-- the end
"""


def test_a_script_has_one_layout() -> None:
    assert layout(SCRIPT) == LAID_OUT


def test_a_layout_is_settled_after_one_run() -> None:
    assert layout(LAID_OUT) == LAID_OUT


def test_a_layout_says_the_same() -> None:
    assert parse(layout(SCRIPT)) == parse(SCRIPT)


COMMENTED = [
    "score -- a\n F -- b\n for -- c\n GE -- d\n , -- e\n UMASS -- f\n ; -- g",
    "-- a\n-- b\n\n\n-- c\nscore F -- d\n-- e\n\n-- f\n;-- g\n-- h",
    "score F; -- a\n-- b\nshow systems -- c\n; -- d\n; -- e",
    "change -- a\n F from -- b\n A -- c\n to -- d\n B",
    "score F where -- a\n (label = -- b\n x) -- c\n and unit -- d\n is -- e\n missing by -- f\n unit",
    "-- a\r\nscore F -- b \r\n;",
    "-- a",
    "define measure X = 1 - -- a\n -w",
    "-- a\n;-- b",
]


@pytest.mark.parametrize("text", COMMENTED)
def test_every_comment_is_kept_in_its_order(text: str) -> None:
    comments = re.compile(r"-- \w")
    assert comments.findall(layout(text)) == comments.findall(text)
    assert parse(layout(text)) == parse(text)
    assert layout(layout(text)) == layout(text)


def test_a_statement_is_broken_where_it_is_too_wide_and_not_before() -> None:
    fits = "score F for " + "G" * (WIDEST - len("score F for  on T;")) + " on T;"
    assert layout(fits) == fits + "\n"
    too_wide = fits.replace("on T", "on TT")
    assert layout(too_wide) == too_wide.replace(" for", "\n  for").replace(" on", "\n  on") + "\n"


def test_a_text_over_several_lines_is_left_alone() -> None:
    assert layout('sql "select  1\n   from x -- not a comment\n"') == 'sql "select  1\n   from x -- not a comment\n";\n'


def test_names_numbers_and_quotes_stay_as_they_are_written() -> None:
    assert layout('Score F For "GE", Test, 3B Limit 2^20') == 'score F for "GE", Test, 3B limit 2^20;\n'


def test_nothing_is_laid_out_as_nothing() -> None:
    assert layout(" ;\n ") == ""


def test_a_script_with_a_mistake_is_not_laid_out() -> None:
    with pytest.raises(QueryError, match="unknown statement"):
        layout("scor F")
