"""Designs of a space on the workers of a Dask cluster. The only part of MONET that knows Dask.

The program starts `python3 -m monet.cluster` and speaks to it over a pipe; docs/cluster.md has the words.

    protocol   what passes over the pipe
    server     the end of the pipe: messages to the engine, outcomes back
    engine     the cluster: batches, workers that die
    security   who may speak to it: keys
    courier    what is sent to workers as it is: they may lack this package
    worker     on a worker: the files of the space, processes that evaluate
    process    one of these processes, as its worker sees it
    evaluator  the same from inside
"""
