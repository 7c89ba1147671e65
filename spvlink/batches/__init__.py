"""Many pipelines at once: the command ``spvlink batch`` and ``spvlink.batch``.

    pipelines   what a pipeline is here          ends   what gives them, what takes results
    manifest    the source and sink of ``.jsonl`` files        foz   that of Fossilize archives
    folder      the source and sink of a folder of modules     pairing   what belongs together there
    jobs        what one link depends on, as a key; one job for all pipelines with that key
    work        one job done, in whatever process              slot, pool   processes that do jobs
    store       finished jobs on the disk                      cluster      Dask's machines
    engine      jobs through an executor, each once, none that the store has
    plan        which pipelines there are and what became of them
    summary     the report             progress   the bar     arguments, command   the command line
    api         the Python face

The room is not called ``batch`` because ``spvlink.batch`` is the function.
"""
