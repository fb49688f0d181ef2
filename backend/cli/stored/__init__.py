"""The commands about a server's database: a copy of it, and a move to another one."""
