"""What bench/page.py does with a real server and a real browser."""
