"""The live page: runs of a store in a browser of this machine, read-only."""
