"""The pytest plugin: scenarios, Dedalus files and Bloom classes as tests.

``hooks`` is what pytest loads, and all that it costs whoever does not use it.  ``decorator`` is
``clew.scenario_test``.  Both lead to ``checking``, which follows one check: ``sources`` (what is named),
``searching`` (what is run), ``judging`` (what that says, and whether it is what the test expects), and around
these ``storing`` and ``replaying``, for what failed before comes first.  ``failing`` and ``texts`` tell a failure,
``reporting`` tells it to pytest.

A test passes only if something was tried, and as much as it says: nothing here turns an answer into a better one.
"""
