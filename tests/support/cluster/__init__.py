"""Support of the cluster's tests: hosts as network namespaces, their cables, a client of the runner."""
