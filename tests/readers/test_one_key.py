"""All systems of a test set are judged by one key, whichever file brings it and in whichever order files come."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.replacement import create

KEYS = st.lists(st.sampled_from("xyz"), min_size=3, max_size=3)


def classes(model: str, key: list[str], answers: list[str]) -> str:
    rows = [f"{place},{model},{true},{said}" for place, (true, said) in enumerate(zip(key, answers, strict=True))]
    return "\n".join(["id,model,y_true,y_pred", *rows])


@given(one=KEYS, other=KEYS, answers=KEYS)
@settings(max_examples=15, deadline=None)
def test_a_table_of_classes_loads_beside_another_of_the_same_key_only(
    tmp_path_factory: pytest.TempPathFactory, one: list[str], other: list[str], answers: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("keys")
    first, second = folder / "one.csv", folder / "other.csv"
    first.write_text(classes("wren", one, answers))
    second.write_text(classes("lark", other, answers))
    with create(folder / "w.duckdb") as database:
        load(database, first, "sklearn", fields={"test_set": "t"})
        if one == other:
            assert load(database, second, "sklearn", fields={"test_set": "t"}).rows_new
        else:
            with pytest.raises(DataError, match="has the key"):
                load(database, second, "sklearn", fields={"test_set": "t"})
        load(database, second, "sklearn", fields={"test_set": "u"})


def test_answers_to_another_key_are_refused_and_say_which(tmp_path: Path) -> None:
    answers = tmp_path / "lark.conll"
    answers.write_text("Ada B-PER\nsleeps O\n\nRome B-LOC\n")
    with create(tmp_path / "w.duckdb") as database:
        for system, tag in (("wren", "B-LOC"), ("lark", "B-PER")):
            gold = tmp_path / f"{system}.gold"
            gold.write_text(f"Ada B-PER\nsleeps O\n\nRome {tag}\n")
            fields = {"test_set": "t", "system": system}
            if system == "lark":
                with pytest.raises(DataError, match=r"2 of t has the key PER 1 for one system, but LOC 1 for another"):
                    load(database, answers, "conll", fields=fields, options={"gold": str(gold)})
            else:
                load(database, answers, "conll", fields=fields, options={"gold": str(gold)})
