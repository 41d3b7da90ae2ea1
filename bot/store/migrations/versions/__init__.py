"""One file per change of the tables, numbered; none is edited once it has been released."""
