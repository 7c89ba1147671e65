"""Other people's shaders as test pipelines: scripts/corpus has the usage.

Rooms: `find` (folders and snapshots -> groups of shaders that belong together), `formats` (files of
several shaders: Amber, libretro), `build` (shaders -> modules -> pipelines), `partner` (a stage for
a neighbour that nobody wrote), `check` (one pipeline: linked, validated, linked again, drawn),
`table` (what became of all).
"""
