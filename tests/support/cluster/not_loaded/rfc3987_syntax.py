"""In place of a package that jsonschema loads where it is installed, as it is here with JupyterLab: to check the format
of an address, which nothing here asks for, it compiles a grammar for a second in each process of Ray.
"""

raise ImportError("nothing here needs it")
