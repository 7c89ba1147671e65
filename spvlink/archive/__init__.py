"""Read and rewrite Fossilize archives (`.foz`), which record all pipelines of a game.

Nothing here links, and `spvlink link` does not import it. In the order of the work:

    foz         read the container: one or several files as one union, entries by (tag, hash)
    index       find an entry: 16 bytes for each
    varint      decode SPIR-V words as an archive stores them
    hashes      compute the 64-bit keys of modules, application infos and links
    documents   read the JSON of an entry strictly; change single digits of its text
    numbers     list the structures, flags and dynamic states of Vulkan
    structures  say which pNext structure matters for linking, by its place
    layouts     resolve pipeline layouts and render passes
    mappings    find the origin of descriptors in the form of `--layout`
    states      find the static state of a pipeline
    records     collect the facts of one graphics pipeline, or the reason not to link it
    forms       parse texts once that differ in keys only
    archive     give the pipelines and modules of an input: ``Archive``
    writer      write the same archive with other modules: ``ArchiveWriter``

The format was learned from ValveSoftware/Fossilize at de951cf1f. docs/reference/archives.md has
the facts.
"""
