"""The Web API: one module per family of methods, each a table from method name to function, and `dispatch`, which answers calls."""
