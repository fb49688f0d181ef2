"""Who a client is and what it may do: tokens, roles, owners of runs, and the audit log. Knows no HTTP."""
