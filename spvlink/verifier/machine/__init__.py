"""An interpreter of whole pipelines, by which the original and the linked modules are compared.

values        arrays of values
declared      what a module says of itself
control       the order of blocks
memory        variables and buffers
arithmetic    what opcodes compute
extended      GLSL.std.450
world         seeded buffers and images
engine        run an entry point
instructions  memory, calls, derivatives
images        lookups and texels
groups        atomics and subgroups
interface     from stage to stage
specialize    specialization constants
running       what all stages share
pipeline      vertices to primitives
geometry      emitted vertices
meshes        task and mesh stages
fragments     quads
seen          what is compared
execute       the verdict
"""
