"""A class over HTTP and sockets: its pages and routes, the events of its pages, and what each page is sent."""
