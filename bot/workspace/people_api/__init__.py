"""What people can do and see: the API behind the page, and of scripts and tests. `routes` is the list; everything acts as one named person."""
