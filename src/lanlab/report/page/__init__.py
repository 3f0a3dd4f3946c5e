"""Pages and files: templates, figures, and how a user's own files are protected."""
