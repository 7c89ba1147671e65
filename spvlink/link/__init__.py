"""Link the two sides of a border. A wing imports only wings above it in this list.

border      the link itself: slots, stores and loads of both stages
check       check whether two sides fit
resources   find the resources that another stage may read
rounding    decide where a last bit may change
dead        remove unread and unwritten parts of the interface
shape       split arrays
values      merge equal values, propagate known ones
motion      move code to the other stage
pack        use fewer Locations
builtins    link built-ins that the next stage reads
payload     link the payload of a task shader
half        send floats as 16 bits
"""
