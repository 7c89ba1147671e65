"""Proof on paper: graphs of values of both pipelines, normalized and compared."""
