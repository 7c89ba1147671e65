"""Turn slots back into variables, and finish the module that is written.

raise_io           declare the variables, alike on both sides, and access them
interface_wrapper  give a stage another interface and leave its code as it is
tidy               put vectors together again
sample_rate        keep the sample rate of a stage
indices            hide negative constant indices
trim               remove unused types, constants and functions
"""
