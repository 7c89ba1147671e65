"""Split arrays into slots.

agreement             keep the same variables whole on both sides
promote_late_indices  split arrays whose index became constant
unroll_loops          unroll loops that index arrays of varyings
array_side            find the elements that one stage uses
arrays_dynamic        replace an array with a dynamic index by a local copy
"""
