"""A model check on the code itself: every interleaving of two processes, every person's event and a crash anywhere (see `walk`)."""
