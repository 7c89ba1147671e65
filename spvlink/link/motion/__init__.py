"""Move code over a border.

algebra            the theorems, and the operations that may move
nodes              the values of a consumer that its producer could compute
consumer_graph     the graph of these values
mincut             the minimum cut of a graph
backward           move work to the producer: the cheapest cut
lenient            what --relaxed allows beyond that
relocate           carry out a cut
forward            move work to the consumer
brake              limit the registers that the consumer needs for that
weighted           move work through interpolation of an evaluation shader
polynomials        compare interpolation weights as polynomials
propagate_blended  skip blends of equal values
"""
