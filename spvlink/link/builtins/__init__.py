"""Link the built-ins that one stage writes and the next stage reads.

side                     find the built-ins of a stage and every access to them
builtins                 give them slots
dead_unwritten_builtins  read unwritten built-ins as their defined value
known                    merge built-ins and varyings that are equal
propagate_builtins       compute constant and uniform built-ins in the consumer
closing                  remove the slots again
"""
