"""The only SQL. Rows never leave this package; what leaves is plain data of `bot.core`."""
