"""Any name can be part of an address, and is decoded unchanged."""

from __future__ import annotations

from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.web.addresses import (
    ADDRESSES,
    Address,
    AddressForm,
    AddressKind,
    UndecodedError,
    address_of,
)
from evalhouse.warehouse.web.pages import PAGES
from evalhouse.warehouse.web.publication import SiteFiles

NAMES = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)
KINDS: dict[AddressKind, int] = {kind: len(form.named) for kind, form in ADDRESSES.items()}
"""How many names an address of each kind has."""


def parsed(path: str) -> Address | None:
    parts = urlsplit(f"http://127.0.0.1{path}")
    return address_of(parts.path.encode("ascii"), parts.query.encode("ascii"))


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(NAMES, min_size=3, max_size=3),
    st.lists(st.tuples(NAMES, NAMES), max_size=3),
)
def test_an_address_comes_back(kind: AddressKind, names: list[str], chosen: list[tuple[str, str]]) -> None:
    address = Address(kind, tuple(names[: KINDS[kind]]), tuple(chosen))
    assert parsed(address.path) == address


def test_every_kind_of_page_has_an_address() -> None:
    assert set(ADDRESSES) == set(get_args(AddressKind)) == PAGES.keys() - {"statement"}


def test_only_its_address_is_known_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the server nor a site tells kinds of pages apart in another way."""
    kind: Any = "coverage"
    form = AddressForm(("test-set", "<test set>", "coverage"), "test-sets/{}/coverage{of_kind}.html")
    monkeypatch.setitem(ADDRESSES, kind, form)
    address = Address(kind, ("T",), (("of", "values"),))
    assert parsed(address.path) == address
    assert SiteFiles(lambda test_set: "values").of(address) == "test-sets/T/coverage.html"
    assert SiteFiles(lambda test_set: "filtering").of(address) == "test-sets/T/coverage-of-values.html"


@pytest.mark.parametrize(
    "name", ["..", ".", "~", "~..", "a/b", "/", "?", "#", "%", "%2e%2e", "a b", "..\\x", "//x", "&=;", "日本"]
)
def test_names_that_mean_something_in_an_address_are_names(name: str) -> None:
    path = Address("system", (name,)).path
    assert path.count("/") == 2
    # What browsers take for a way up, in all its spellings.
    assert path.rpartition("/")[2].casefold() not in {".", "..", "%2e", "%2e%2e", ".%2e", "%2e."}
    found = parsed(path)
    assert found is not None
    assert found.names == (name,)


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/test-set", "/test-set/", "/system/a/b", "/system/%ff", "/test-set/a/pair/b", "//", "/system/~"],
)
def test_other_paths_are_no_pages(path: str) -> None:
    assert address_of(path.encode(), b"") is None


@pytest.mark.parametrize("query", [b"q=%ff", b"q=\xc3\xa9", b"&".join([b"by=x"] * 1001)])
def test_what_cannot_be_read_is_said(query: bytes) -> None:
    with pytest.raises(UndecodedError):
        address_of(b"/", query)


def test_choices_are_read_and_changed() -> None:
    address = Address("test set", ("T",), (("measure", "F"), ("measure", "recall"), ("page", "2"), ("where", " ")))
    assert address.all_of("measure") == ("F", "recall")
    assert (address.one_of("page"), address.one_of("where", "all")) == ("2", "all")
    assert address.choosing(page="3").path == "/test-set/T?measure=F&measure=recall&where=+&page=3"
    assert address.choosing(page="", measure="").chosen == (("where", " "),)
