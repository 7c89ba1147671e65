"""Merge equal values and propagate known ones.

dedup_outputs                merge duplicate outputs
dedup_captured               merge outputs with captured ones
propagate_partial_constants  treat constant or undefined outputs as constant
propagate_values             compute constants and uniforms in the consumer
"""
