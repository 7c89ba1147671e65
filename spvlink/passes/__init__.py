"""Change one module alone.

A wing imports only itself and wings above it in this list; ``opening`` and ``lowering`` do not know
each other.

    cleaning  simplify code: branches, constants, equal values, dead code
    opening   apply the user's constants, take debug information aside, inline calls
    lowering  turn variables and the interface into values and slots
    raising   turn slots back into variables, and finish the module
"""
