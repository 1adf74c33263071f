"""The shell: what a person types and sees all day. It asks a session and draws what comes back; what a query means and
what a result looks like is decided in lower rooms.
"""
