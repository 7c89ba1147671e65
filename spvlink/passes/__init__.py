"""What needs one module alone, in the order of a link. A wing imports the wings before it in this
list and itself; ``opening`` and ``lowering`` do not know each other.

    cleaning    smaller code that does the same: branches, constants, equal values, dead code
    opening     before all else: what the user gave, debug information aside, calls become code
    lowering    variables and the interface become values and slots
    raising     slots become variables again, and what only the written module needs
"""
