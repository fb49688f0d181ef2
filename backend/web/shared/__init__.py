"""What several processes of one server share through Redis: runs, their logs, limits and encoded answers."""
