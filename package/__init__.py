"""How the distributions are made and checked: `make dist`. No part of the program."""
