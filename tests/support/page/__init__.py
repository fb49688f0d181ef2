"""Support of the page's tests: the browser, questions to an open page, gestures, pixels."""
