"""What people can do and see: the API behind the page, and of scripts and tests.

`routes` is the list of addresses; every one of them acts, or looks, as one named person.
"""
