"""Use fewer Locations.

placement         the places of everything at a border
compact           pack all components into the fewest Locations
bins              Locations while they are filled
dissolve          empty one Location into the holes of others
whole_variables   place matrices, arrays and structs
unread            place outputs that the next stage does not read
variables         make variables of the slots of a Location
share_per_patch   store values once per patch or primitive
narrow            pack flags and small integers into shared components
small_numbers     find the number of bits of an integer
halves_words      split 64-bit values if one word need not cross
halves_locations  split 64-bit values if that saves a Location
split64           split one 64-bit varying
words64           find the two words of a 64-bit number
"""
