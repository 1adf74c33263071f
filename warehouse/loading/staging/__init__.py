"""What readers are made of: files as lines and cells, records as sheets, staged tables. It does not know any format."""
