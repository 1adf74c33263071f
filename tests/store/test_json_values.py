"""Values in JSON are found one at a time, however the text is divided into pieces. Python's json is the oracle."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.loading.staging import json_rows, json_values
from evalhouse.warehouse.loading.staging.json_values import JSONError, values
from tests.store.texts import Complaints

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def cut(text: str, size: int) -> Iterator[str]:
    return (text[place : place + size] for place in range(0, len(text), size))


@given(
    items=st.lists(VALUES, max_size=5),
    size=st.integers(1, 40),
    indent=st.none() | st.integers(0, 3),
    ascii_only=st.booleans(),
)
def test_the_items_of_an_array_come_out_as_they_stand(
    items: list[object], size: int, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(items, indent=indent, ensure_ascii=ascii_only)
    found = list(values(cut(text, size)))
    assert [json.loads(value) for value in found] == items
    assert not any("\n" in value for value in found)


@pytest.mark.long
@given(
    value=st.dictionaries(st.text(), VALUES), place=st.integers(0, 200), size=st.integers(1, 40), sign=st.characters()
)
def test_what_is_not_json_is_refused_as_python_refuses_it(
    value: dict[str, object], place: int, size: int, sign: str
) -> None:
    text = json.dumps([value, value], indent=1)
    text = text[: place % len(text)] + sign + text[place % len(text) + 1 :]
    try:
        expected = json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(ValueError, match=r"\w"):
            _one_array(text, size)
    else:
        if isinstance(expected, list):
            assert _one_array(text, size) == expected


def _one_array(text: str, size: int) -> list[object]:
    """The items of an array; values that stand behind one another are taken by `values`, and not by json."""
    found = [json.loads(value) for value in values(cut(text, size))]
    if not text.lstrip().startswith("[") or json.loads(text) != found:
        raise ValueError("not one array")
    return found


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("[\n{},\n", "Expecting value", 3),
        ('[{"a": 1}\n{"a": 2}]', "Expecting ',' delimiter", 2),
        ('[{"a": 1},\n]', "Expecting value", 2),
        ('[\n"abc', "Unterminated string starting at", 2),
        ("[1]\n[tru]", "Expecting value", 2),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_mistake_has_its_line(text: str, said: str, line: int, size: int) -> None:
    with pytest.raises(JSONError) as caught:
        list(values(cut(text, size)))
    assert (caught.value.message, caught.value.line) == (said, line)


def test_what_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(JSONError, match="it is nested too deep"):
        list(values(["[" * 100_000]))


def test_no_value_of_a_large_text_is_longer_than_what_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch, complaints: Complaints
) -> None:
    monkeypatch.setattr(json_values, "LARGEST_VALUE", 100)
    monkeypatch.setattr(json_rows, "MOST_WHOLE", 10)
    assert list(values(cut('["' + "x" * 90 + '", 1]', 7))) == ['"' + "x" * 90 + '"', "1"]
    for text in ("x" * 200, "é" * 60):
        said = "in.json:2: this is not JSON: a value is longer than 100 bytes"
        assert complaints('[1,\n"' + text + '"]', file="in.json") == [said]
