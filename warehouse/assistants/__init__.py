"""What an assistant asks by the Model Context Protocol: tools that only ask, answers as JSON, and a count of all
that was tested in a conversation. Nothing here changes a warehouse or writes a file.
"""
