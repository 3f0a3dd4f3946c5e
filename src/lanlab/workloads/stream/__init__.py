"""Messages from a sender to a receiver."""
