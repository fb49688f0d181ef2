"""The runner as it is where processes cannot share memory for messages: `python -m tests.support.gloo_runner`."""

from __future__ import annotations

from runner.transport import mailbox

if __name__ == "__main__":
    mailbox.usable = lambda: False
    from runner.__main__ import main

    main()
