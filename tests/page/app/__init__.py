"""Tests of the whole page: links, languages, appearance, embeds, accessibility."""
