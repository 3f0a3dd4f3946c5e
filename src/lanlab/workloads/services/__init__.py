"""File services: their addresses, logins and parameters."""
