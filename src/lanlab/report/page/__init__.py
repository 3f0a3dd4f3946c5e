"""Pages and files: templates, figures, and the protection of a user's own files."""
