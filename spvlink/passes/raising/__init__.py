"""Slots become variables again, and what only the written module needs.

raise_io            the variables, declared alike on both sides
tidy                vectors put together again; what raising left behind
interface_wrapper   another interface around code that stays as it is
sample_rate         a stage that ran once per sample still does
indices             constant indices that must not be negative
trim                types, constants, functions that nothing needs any more
"""
