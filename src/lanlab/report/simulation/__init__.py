"""How near a simulation comes to published values, and what it predicts."""
