"""lanlab: a network and file-service performance laboratory."""

__version__ = "0.1.0"
