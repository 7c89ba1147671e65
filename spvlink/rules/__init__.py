"""Rewrite instructions by algebraic rules. README.md describes the language of algebra.rules.

_algebra    the rules as Python, written by scripts/generate-rules
apply       try the rules on one instruction
match       literals, guards and constants that rules call
arithmetic  exact arithmetic on bit patterns
lanes       the same for each component of a constant
"""
