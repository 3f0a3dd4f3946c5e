"""A file service under many clients."""
