"""What people see: the workspace's page in a real browser, with a real bot behind it."""
