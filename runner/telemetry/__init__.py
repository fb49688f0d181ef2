"""When each op ran: shared op board, event stream, clocks."""
