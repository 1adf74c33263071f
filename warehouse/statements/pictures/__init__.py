"""The pictures of statements: what is drawn of an answer. Each is imported on demand, since drawing needs numpy;
warehouse.charts says what a panel is made of.
"""

from __future__ import annotations

from warehouse.query.path import Picture


def of_score() -> Picture:
    from warehouse.statements.pictures.scored import queries, scored

    return Picture(scored, queries)


def of_compare() -> Picture:
    from warehouse.statements.pictures.compared import compared

    return Picture(compared)


def of_group() -> Picture:
    from warehouse.statements.pictures.grouped import grouped, queries

    return Picture(grouped, queries)


def of_rank() -> Picture:
    from warehouse.statements.pictures.ranked import ranked

    return Picture(ranked)


def of_power() -> Picture:
    from warehouse.statements.pictures.powered import powered

    return Picture(powered)


def of_documents() -> Picture:
    from warehouse.statements.pictures.sorted_documents import listed

    return Picture(listed)


def of_differ() -> Picture:
    from warehouse.statements.pictures.sliced import sliced

    return Picture(sliced)


def of_curve() -> Picture:
    from warehouse.statements.pictures.curved import curved

    return Picture(curved)


def of_change() -> Picture:
    from warehouse.statements.pictures.changed import changed

    return Picture(changed)


def of_replicate() -> Picture:
    from warehouse.statements.pictures.carried import carried

    return Picture(carried)


def of_project() -> Picture:
    from warehouse.statements.pictures.projected import projected

    return Picture(projected)
