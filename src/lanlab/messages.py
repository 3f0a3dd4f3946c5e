"""
The types of the engine's messages, which only type checkers read: `messages.pyi`, made by
`tools/generate_messages.py`. At run time a message is the `dict` that its JSON gives.
"""


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return dict
