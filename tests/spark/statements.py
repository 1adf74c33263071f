"""Every kind of statement, by the warehouse that it asks, for tests that compare engines cell by cell."""

from __future__ import annotations

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.session.session import Session

STATEMENTS: list[tuple[str, str]] = []
"""All of them, with their warehouses."""

ON_JAVA: list[tuple[str, str]] = []
"""Those that Spark with Java is asked too: every kind of statement, every lake, and all that is in the SQL of the
others."""


def _listed(data: str, lines: str) -> list[str]:
    """The statements of a warehouse, one a line; those that begin with + are for Java too."""
    for line in lines.strip().split("\n"):
        statement = line.removeprefix("+ ")
        STATEMENTS.append((data, statement))
        if statement != line:
            ON_JAVA.append((data, statement))
    return [statement for of, statement in STATEMENTS if of == data]


SAMPLE = _listed(
    "sample",
    """
+ show systems
+ show test sets
show evaluations
show measures
show attributes
show imports
+ score F, recall, precision for all on TST3
+ table F, recall for GE, UMASS, SRI on TST3, TST4 against GE adjust holm interval
table F for GE, UMASS, SRI on TST3 letters rank shuffles 99
score F for all on TST3, TST4 order by F desc limit 3
+ score F for all on TST3 by system.pre_parse where system.post_parse = "yes"
+ score mean(F), error, recall(partial=0) for GE*, U* on TST3
+ score recall, precision, fallout, F of filtering for GE, UMASS, allrel, random(s=0.7) on TST3, TST4
score recall(optional=relevant), precision(optional=nonrelevant) of filtering for GE, UMASS on TST3
+ score recall of filtering for GE on TST3 by label
score recall of published for GE, GE-CMU, ADS on TST2, TST3
+ score F for GE on TST3 where document like "%1_" or document in ("SIM3-001", "SIM3-002")
+ score F for all on TST3 replicates by system.muc3
+ spread F for all on TST3 replicates by system.muc3
+ documents F, mean(F) of extraction for GE, UMASS, MITRE on TST3
+ differ accuracy, MCC of filtering for GE, UMASS on TST3 by label shuffles 99
documents MCC for GE, UMASS on TST3, TST4 only GE limit 5
+ curve precision, recall of filtering for GE, UMASS, allrel on TST3 utility 2, -1 resamples 99
score F of published for UMASS, GE, SYNCH on MUC-*.TST* standardized
score recall for GE, MITRE on TST3 by label standardized
+ compare F(beta=1) for GE, UMASS on TST3 shuffles 999
compare F, recall for GE-CMU, UMASS, SRI against GE on TST3 adjust holm
compare F, recall, precision for GE, UMASS, SRI, NYU, USC, MITRE on TST3 shuffles 999
compare F for GE, UMASS, SRI, NYU, USC on TST3 exact
compare F for GE, UMASS, SRI, NYU, USC on TST3 shuffles 99 adjust maxt
compare F for GE, UMASS, SRI, NYU on TST3 test bootstrap shuffles 99
compare F for GE, UMASS, SRI on TST3 shuffles 99 test tukey
compare precision of filtering for GE, UMASS against allrel on TST3
+ compare F for GE, UMASS on TST3 where label = relevant shuffles 99
compare F for yes, no on TST3 replicates by system.muc3
compare F for yes, no on TST3 replicates by system.muc3 exchange by system
compare mean(F) for GE, UMASS, SRI on TST3 test t
compare F for GE, UMASS, SRI on TST3 test sign
compare precision for GE, UMASS on TST3 test wilcoxon
+ rank F for GE, UMASS, SRI on TST3 shuffles 99
+ group F for GE, GE-CMU, UMASS, SRI, NYU on TST3 level 0.10 confidence 0.99
+ replicate F for GE, GE-CMU, UMASS, SRI from TST3 to TST4 level 0.10
+ generality on TST2, TST3, TST4
+ change precision, fallout of published for all except allrel from TST3 to TST4 trim 1
+ project precision, F of filtering for GE, UMASS from TST3 to generality 0.01, 0.05
+ confusion of filtering for GE, UMASS on TST3
+ audit published for GE, LSI, SRI, allrel on TST2, TST3, TST4
+ agree on TST3
+ explain compare F for GE, UMASS on TST3
+ plot score recall, precision of filtering for all on TST4
plot compare F for GE, UMASS on TST3 shuffles 99
+ score F for GE, UMASS on TST3, TST4 missing zero
rank F for all on TST3, TST4 over test sets missing drop shuffles 999
+ define measure SER = (missing + spurious + incorrect) / possible; compare SER for GE, UMASS, SRI on TST3 shuffles 99
""",
)

WORKED = _listed(
    "worked",
    """
+ show systems
+ score precision, recall for A, C on abc by document.source
+ score precision for B on abc where document.source = "radio" and not (document.words < 110 or document like "M01%")
+ score precision for B on abc where document.source is missing
+ score recall for I on modifiers by unit where unit like "both-%" order by system
compare recall, precision, F for I, II on modifiers exchange by unit one-sided shuffles 99
compare recall for I, II on modifiers exchange by unit test mcnemar
compare precision for A, B, C on abc shuffles 99
compare precision for A, C on abc exchange by document.source
+ score BLEU for all on news
compare BLEU for base, tuned on news test wilcoxon
+ score recall, precision, auc for all on alerts
+ score recall, precision for all on alerts where confidence >= 0.5
score recall of filtering for all on alerts standardized
score recall for all on "odd/names" order by system
plot group F for all on "odd/names"
agree on alerts
agree on alerts where annotator in ("eve") with key
agree on alerts by document.source with key exchange by document.source
score F for all on alerts corrected by eve
+ score recall of filtering for all on alerts missing zero
""",
)

CLUSTERED = _listed(
    "clustered",
    """
+ show test sets
compare accuracy for base, new on robust
compare accuracy for base, new on robust exchange by document
compare accuracy for base, new on robust, reading test tukey shuffles 99
compare ap for all on robust missing zero
+ score ap for all on robust missing drop
score ap for all on robust missing error
group accuracy for all on reading
+ power accuracy for base, new on robust detect 10% documents 50
+ coverage
""",
)

VALUES = _listed(
    "values",
    """
+ score M for all on t
score M for all on t by document
score M for all on t by document where document = "a\\b_3%"
score M for all on t where document like "a\\b%"
score M for all on t by system.size where system.size >= 2.5
score M for all on t standardized
+ score M for all on t replicates by system.of
compare M for all on t shuffles 99
compare M for one, two on t replicates by system.of
spread M for all on t replicates by system.of
""",
)

DRAWN_AGAIN = _listed(
    "replicated",
    """
+ score pass(k=1), pass(k=3), every(k=3) for all on qa
score pass(k=2) for all on graded, greedy by document
compare pass(k=3) for base, tuned on qa
score pass for all on folds
+ score pass(k=1) for all on qa missing zero
+ score accuracy, seconds for all on qa replicates missing zero interval
+ score accuracy for all on qa missing drop
table seconds for all on qa
compare accuracy for "tuned#1", "tuned#4", solo on qa missing zero
spread accuracy, seconds for all on qa
spread accuracy for base on qa exchange by document.passage
score accuracy for all on qa corrected by seconds exchange by document.passage runs apart
""",
)

REFUSED = [each for each in SAMPLE if each.endswith(("test sign", "test wilcoxon"))]
REFUSED += ["score ap for all on robust missing error", "score pass for all on folds"]


def answer(session: Session, statement: str) -> str:
    """The result to the last digit, or the error, which is the same on all engines too."""
    try:
        return "\n".join(map(repr, session.results(statement)))
    except QueryError as error:
        return f"{error.message} {error.span} {error.hints}"


GROUPED = "group recall for all on TST3 shuffles 99"
PARTED = [each for each in SAMPLE if each.startswith(("compare", "group", "replicate"))] + [
    "compare F for GE, UMASS, SRI, NYU on TST3, TST4 test tukey one-sided shuffles 99 interval studentized",
    "compare error, recall for GE, UMASS, SRI, NYU on TST3 adjust maxt shuffles 99",
    "compare F, recall for all on TST3 shuffles 199",
    GROUPED,
    "compare F, recall for GE, UMASS, SRI on TST3 test tukey shuffles 25000",
    "compare F for GE, UMASS, SRI, NYU on TST3 adjust maxt shuffles 25000",
    "compare F for GE, UMASS, SRI, NYU on TST3 test studentized adjust maxt shuffles 25000",
    "compare F, recall for GE, UMASS, SRI, NYU on TST3, TST4 shuffles 99 interval bca adjust bonferroni",
    "compare F for GE, UMASS, SRI on TST3, TST4 over test sets shuffles 99 adjust holm",
    'compare F for no, "not applicable", yes on TST3 replicates by system.intra_parse exchange by system',
    "rank F for GE, UMASS, SRI, NYU on TST3 shuffles 25000",
    "power F for GE, UMASS, SRI on TST3 detect 5%, 10% documents 50, 100",
    "compare F, recall for GE, UMASS, SRI, NYU on TST3, TST4 test tukey shuffles 99 interval percentile",
    "compare error for GE, UMASS, SRI, NYU on TST3 test tukey one-sided shuffles 99 interval bca",
    "compare F for GE, UMASS, SRI on TST3, TST4 over test sets test tukey shuffles 99 interval percentile",
    "score F, mean(F), recall for all on TST3, TST4 interval",
    "score F for GE, UMASS, SRI on TST3 interval bca exchange by unit",
    "score F for all on TST3 replicates by system.muc3 interval",
    "spread F for all on TST3 replicates by system.muc3",
    "curve precision, recall of filtering for GE, UMASS, allrel on TST3, TST4 utility 2, -1 resamples 99",
    "differ accuracy, MCC of filtering for GE, UMASS, SRI on TST3 by label shuffles 99",
]
"""Statements whose work is shared out, by pairs or by shuffles."""

APART = [
    ("sample", "compare F for all on TST3 replicates by system.muc3 exchange by system interval percentile"),
    ("sample", "compare F for all on TST3 replicates by system.muc3 exchange by system adjust holm"),
    ("sample", "plot score F, recall, precision for all on TST3, TST4"),
    ("sample", "plot group F for GE, UMASS, SRI, NYU on TST3"),
    ("sample", "plot compare F, recall for GE, UMASS on TST3, TST4 shuffles 12000"),
    ("imported", "compare auc for bayes, tree, margin on mail adjust bonferroni"),
    ("imported", "curve precision for bayes, tree, margin on mail resamples 99"),
    ("values", "compare M for all on t test tukey shuffles 99"),
    ("values", "compare M for all on t test tukey shuffles 99 interval bca"),
    ("annotated", "agree on t"),
]
"""More such statements, by the warehouse that they ask: intervals of runs, of areas and of annotators, what pictures
draw, and values of which each pair has digits of its own."""
