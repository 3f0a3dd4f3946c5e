"""The accuracy of simulations against published values, and their predictions."""
