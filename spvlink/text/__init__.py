"""The printed form of a module, which parses back. For people and tests: the path of ``spvlink
link`` never imports it.
"""

from spvlink.text.parser import parse
from spvlink.text.printer import print_block, print_function, print_inst, print_module

__all__ = ["parse", "print_block", "print_function", "print_inst", "print_module"]
