"""How accurate a simulated run is, and what limited it."""
