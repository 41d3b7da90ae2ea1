"""Pure block builders: state in, Block Kit out."""
