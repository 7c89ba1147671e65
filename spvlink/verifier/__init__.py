"""Whether a link is right, found by code that knows nothing of the passes.

    verdict  equal, unequal with a witness, or unknown with a place
    known    what the state of a pipeline says, for both
    paper    proof on paper: graphs of values of both pipelines, normalized and compared
    machine  run both pipelines in an interpreter and compare everything that comes out
    device   draw both pipelines on a Vulkan device and compare everything that comes out
    api      ``spvlink.verify`` and ``spvlink link --verify``
    command  ``spvlink verify``

This room may know the grammar, the decoder, the decoded form and what a user hands over, and
nothing of the linker: a mistake there must not be made here once more.
"""
