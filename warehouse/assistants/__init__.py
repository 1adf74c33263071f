"""The tools that an assistant can call by the Model Context Protocol. They only ask questions; they answer in JSON, and
they count everything that was tested in a conversation. Nothing here changes a warehouse or writes a file.
"""
