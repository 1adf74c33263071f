"""One warehouse, and statements one after another: what answers them, what they change, and the files that they read
and write. The doors to a session are in other rooms.
"""
