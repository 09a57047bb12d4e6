"""The manual that the app serves offline: the Markdown files of assets/guide, their search, and their generated parts."""
