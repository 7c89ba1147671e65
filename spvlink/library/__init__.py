"""Build libspvlink: a small C library for engines, which link a pipeline before they create it.

    build       build the library, its header and a pkg-config file: ``spvlink library DIR``
    c/          ``spvlink.h`` and its functions; the rest is in ``spvlink/c``, which the layer uses

The library never links itself. It asks the linker process, ``spvlink serve`` (``layer/serve.py``).
"""
