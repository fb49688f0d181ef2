"""Pictures of schedules, drawn by the server for previews of links."""
