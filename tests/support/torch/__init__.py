"""torch's own schedules and pipeline runtime, to compare with."""

# What the fork server of a test process imports for all its children; whichever test needs it first starts it.
PRELOADED = ["torch.distributed.pipelining", "tests.support.torch.runtime"]
