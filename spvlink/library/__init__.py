"""libspvlink, for engines that link in their own process' time: a small C library, built where it is
needed.

    build       ``spvlink library DIR``: the library, its header and a pkg-config file
    c/          ``spvlink.h`` and its functions; the rest is in ``spvlink/c``, which the Vulkan layer
                uses, too

The library never links itself. It asks the linker process, ``spvlink serve`` (``layer/serve.py``).
"""
