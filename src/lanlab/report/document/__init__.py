"""Tables as data, and how a terminal shows them."""
