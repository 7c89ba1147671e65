"""Generated tables of the SPIR-V grammar (scripts/generate-grammar)."""
