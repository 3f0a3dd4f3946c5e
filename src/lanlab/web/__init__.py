"""The live page: a store's runs in a browser on this machine, read-only."""
