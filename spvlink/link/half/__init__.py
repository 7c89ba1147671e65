"""Send floats as 16 bits where the picture hardly changes (``--half``).

values      numbers with a range and a bound of their change, through operations
analysis    the same for all values of a stage
visible     what of a fragment shader's outputs is seen, and how much of it
half        which varyings, and the change itself
"""
