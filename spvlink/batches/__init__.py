"""Link many pipelines at once: the command ``spvlink batch`` and ``spvlink.batch``.

    pipelines   the data of one pipeline of a batch
    ends        the interface of sources and sinks of pipelines
    manifest    read and write ``.jsonl`` files
    foz         read and write Fossilize archives
    folder      read and write a folder of modules
    pairing     find the pipelines of a folder by names, entry points and interfaces
    jobs        make one job for all pipelines with the same key
    families    group the jobs that share modules (``--variants``)
    work        do one job, in any process
    slot        run a process that does one job at a time
    pool        run such processes as an executor
    cluster     run jobs on the machines of Dask
    store       keep finished jobs on the disk
    journal     append records to a file that survives a kill
    pack        keep modules in one file
    engine      run each job once, if the stores lack it
    shared      ask the store that runs share, and write to it (``--store``)
    places      read and write objects in a folder, on a web server or in S3
    entries     make an entry of a store, and check one
    stored      check the modules of an entry that has no seal
    memory      remember in that store what became of an archive's pipelines
    prints      compute the digests by which a pipeline is known again
    known       record in few bytes what is remembered
    pages       make and read a page of what is remembered
    paging      bring pages and records together
    shape       check the shape of results that come from elsewhere
    shards      deal jobs out to machines, write the folder of one (``--shard``)
    merge       check the folders of all shards, read their results
    compare     compare with the report of an earlier build (``--compare``)
    plan        record all pipelines in few bytes
    results     record what became of their jobs in few bytes
    summary     write the report
    progress    show the progress bar
    arguments   read the command line
    command     run the command
    api         the Python functions

The room is not called ``batch`` because ``spvlink.batch`` is the function.
"""
