"""Print a module as text, and parse it again; ``spvlink link`` never imports this.

printer   print modules, functions and instructions
parser    parse the text
tokens    write and read strings, numbers and enumerants
friendly  choose readable, unique names for ids
"""

from spvlink.text.parser import parse
from spvlink.text.printer import print_block, print_function, print_inst, print_module

__all__ = ["parse", "print_block", "print_function", "print_inst", "print_module"]
