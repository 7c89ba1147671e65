"""What a module is while it is linked, and the few ways to change it.

core      instructions, blocks, functions, modules        types     types and constants
edit      every edit, and the counters that it moves      known     facts, and how long they hold
slot      the interface of a stage, one scalar a slot     declared  what a module declares
debug     debug information beside the code               check     our verifier
"""
