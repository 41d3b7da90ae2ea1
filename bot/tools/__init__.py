"""What a step may call: the registry, and one file per system."""
