"""Remove unread and unwritten parts of an interface.

dead_varyings        components of varyings
shared_varyings      components of varyings in a set of pipelines
whole_variables      outputs that stay whole
unused_arrays        arrays with a dynamic index
overwritten          stores that a later store of the block replaces
payload_members      members of a task payload
dead_builtins        built-ins that the next stage does not read
last_builtins        built-ins of the last stage that fixed functions do not take
dead_builtin_blocks  members of built-in blocks
state_point_size     PointSize, where no points are drawn
state_viewport       ViewportIndex, where there is one viewport
relied               find inputs that a fixed stage relies on
"""
