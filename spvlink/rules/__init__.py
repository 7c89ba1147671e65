"""Algebraic rewriting: rules as text (algebra.rules), compiled to plain Python (_algebra.py). The
language: README.md."""
