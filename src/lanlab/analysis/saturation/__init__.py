"""The highest load without loss."""
