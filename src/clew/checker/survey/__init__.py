"""What an answer rests on: promises that apply, rules that fire.

A certificate says that no promise is broken.  It means little where nothing is promised, so each promise and each
rule is looked up in all admissible executions; the questions are exact, like those of the search.
"""
