"""Processes that do parts of a search: forks of this one, or those below the workers of an executor.

A search hands out numbered requests to a *crew* and takes what comes back in the order of the numbers, so that the
answer is the same whatever the number of workers is, and whichever of them is faster or dies.

- ``processes``: forks, which have everything that this process has; ``fresh``: interpreters of their own, which
  are told what to load (``serving`` is their side);
- ``crew``: what a search sees; ``forks`` and ``executors`` are the two kinds;
- ``tasks``: what is sent to an executor, and the one function that is executed there;
- ``dask``: an executor for a cluster; ``dask_address`` looks whether there is one, and
  ``dask_client`` has what a search needs of it.
"""
