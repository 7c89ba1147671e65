"""Check whether the stages of a pipeline fit.

stage          collect the declarations of one stage
uses           find the components that a stage reads and writes
border         compare the varyings of two stages
builtin_rules  compare their built-ins and modes
findings       the form of an error or warning
input          check a pipeline before linking
interface      check a pipeline after linking, without any code of the passes
"""
