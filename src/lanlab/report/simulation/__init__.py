"""How close simulations are to published values, and what they predict."""
