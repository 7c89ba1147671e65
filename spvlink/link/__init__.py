"""What needs both sides of a border, in wings; a wing imports those before it in this list.

border, check           the link itself; whether two sides fit
resources, rounding     what the other stage may read; what rounding may change
dead                    what nobody reads or writes goes
shape, values, motion   arrays; equal and constant values; code that crosses
pack, builtins          fewer Locations; built-ins that the next stage reads
payload                 what a task shader hands to its mesh shaders
"""
