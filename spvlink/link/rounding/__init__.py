"""Decide where a last bit may change.

ranges     ranges of numbers, before and after linking
poles      how far an operand stays from a pole
sensitive  find values on whose last bit something depends
rounded    find inputs that may come exact instead of interpolated
flatten    choose inputs that may be Flat
"""
