"""Link the stages of one pipeline, or of a set of pipelines, with all passes in order.

chain           run all phases, from decoded modules to checked ones
state           the stages and the borders between them
border          one border of two stages, and groups of borders
groups          find the borders that share a module
split_at_fixed  cut a pipeline at the stages that stay as they are
use_state       run the rows that use the pipeline's state
state_rows      list these rows
lowering        turn variables and interfaces into slots and values
builtin_slots   open the built-ins that cross, and close them again
table           list all passes of a border, in order, with the reason of each place
context         give a pass the borders and settings that it needs
runner          run the passes of one stage; dump, time, check and stop between them
sweep           repeat the passes of all borders until nothing changes
converted       try the sweep again with small branches as selects
wires           choose the slots of a set, which all of its modules share
raising         turn slots back into variables
as_it_came      send stages that linking did not need as they came
remarks         describe the fate of every varying in words
vertex_inputs   name the vertex attributes that nobody reads
"""
