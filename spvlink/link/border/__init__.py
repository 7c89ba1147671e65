"""Hold the link of two stages, and answer the questions that every pass asks.

link              all slots of a border, with their stores and loads
stage             one stage while it is linked
link_remarks      the decisions about each slot, for the report
values            the value that is stored in a slot
uniformity        find outputs that are equal for a whole primitive
first_invocation  find the stores of the first invocation of a workgroup
cost              estimate operations
edit              make edits that several passes share
sink              move a computed value down to its first use
"""
