"""The interactive shell. It asks a session and draws what comes back; it does not decide what a query means or what a
result looks like.
"""
