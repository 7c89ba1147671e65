"""Sets of pipelines that share modules: one version of a module serves all of them."""
