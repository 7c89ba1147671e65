"""Fossilize archives (`.foz`): what a whole game's pipelines are recorded in, read and rewritten.

Nothing here links, and nothing here is on the path of ``spvlink link``. In the order of the work:

    foz         the container: one or several files as one union, entries by (tag, hash)
    index       where the entries are, 16 bytes each
    varint      SPIR-V words as an archive stores them
    hashes      the 64-bit keys of modules, application infos and links
    documents   the JSON of an entry: strict reading, and changing some digits of its text
    structures  which sType means what for linking
    layouts     pipeline layouts and render passes, resolved
    records     what linking needs of one graphics pipeline, or why it is not to be linked
    archive     ``Archive``: the pipelines and modules of an input
    writer      ``ArchiveWriter``: the same archive with other modules

The format was learned from ValveSoftware/Fossilize at de951cf1f. docs/reference/archives.md has
the facts.
"""
