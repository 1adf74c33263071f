"""From text to nodes in steps: limits, what lark builds, drafts; and how far a text that is wrong can be read."""
