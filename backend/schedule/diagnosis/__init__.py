"""Why a measured step takes as long as it does: its costs, its causes, and what their repair would save."""
