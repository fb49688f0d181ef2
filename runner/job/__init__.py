"""One run, from its command to its last event: plan, state machine, reports, outcome."""
