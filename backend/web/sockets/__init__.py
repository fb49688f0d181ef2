"""The Socket.IO events and what feeds them."""
