"""The Vulkan layer that links pipelines as they are created, and the process that does it.

``c/`` is the layer itself, ``build`` and ``install`` put it in place, ``run`` starts a program with
it; ``serve`` is the linker process that the layer asks, ``work`` one link in it; ``wire`` is what
the two say to each other, ``places`` where they meet, ``store`` the cache; ``log`` reads what the
layer wrote down; ``command`` is the command line of all this.
"""
