"""Digests by number, beside a dict that has the same."""

from __future__ import annotations

import random

import pytest

from spvlink.digest_table import DigestTable


@pytest.mark.parametrize("size", [1, 8, 20, 32])
def test_it_is_as_a_dict(size: int) -> None:
    draw = random.Random(size)
    table = DigestTable(size)
    known: dict[bytes, int] = {}
    for _ in range(5000):
        digest = draw.randbytes(size)
        assert table.find(digest) == known.get(digest)
        assert table.add(digest) == known.setdefault(digest, len(known))
    assert list(table) == list(known) and len(table) == len(known)
    assert all(table[number] == digest for digest, number in known.items())
    for digest in [*known, *(draw.randbytes(size) for _ in range(1000))]:
        assert (digest in table) == (digest in known)


def test_what_is_no_digest_is_not_there() -> None:
    table = DigestTable(4)
    table.add(b"abcd")
    table.add(b"efgh")
    assert b"abcde" not in table and b"abc" not in table and b"" not in table
    assert b"bcde" not in table
