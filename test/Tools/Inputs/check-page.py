"""Checks the structure of a page of grit scan: check-page.py PAGE [LIMIT IN BYTES]."""
import os
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """Elements must nest; ids are unique; links lead somewhere; nothing is loaded."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.counts = [], [], [], {}
        self.titles, self.text, self.scripts = [], [], 0

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        assert len(values) == len(attrs), (tag, attrs)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "data", "action", "xlink:href"), (tag, name)
            if name == "href":
                assert value.startswith("#"), value
                self.links.append(value[1:])
            if name == "style":
                assert "url(" not in value, value
        assert tag not in ("link", "img", "iframe", "object", "embed", "base"), tag
        if "id" in values:
            self.ids.append(values["id"])
        for kind in [tag] + (values.get("class") or "").split():
            self.counts[kind] = self.counts.get(kind, 0) + 1
        if tag == "svg":
            assert values.get("role") == "img" and "viewbox" in values, values
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        if "title" in self.open:
            self.titles.append(data)
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


path = sys.argv[1]
with open(path, encoding="ascii") as file:
    source = file.read()
page = Page()
page.feed(source)
page.close()
assert not page.open, page.open
assert len(set(page.ids)) == len(page.ids), "an id appears twice"
assert set(page.links) <= set(page.ids), set(page.links) - set(page.ids)
assert page.counts["script"] == 1 and page.counts["style"] == 1
assert "@import" not in source and "url(" not in source and "http" not in source
# Every picture can be read out, and no number in it is NaN.
assert page.counts.get("svg", 0) == len(re.findall(r"<svg[^>]*><title>[^<]+</title>", source))
assert not re.search(r'(x|y|width|height)="-?(nan|inf)', source)
if len(sys.argv) > 2:
    assert os.path.getsize(path) <= int(sys.argv[2]), os.path.getsize(path)
for kind in ("finding", "contract", "picture", "tensor", "svg"):
    print(f"{kind}: {page.counts.get(kind, 0)}")
for title in page.titles:
    if title.startswith(("element 0:", "element 1:", "element 32:", "scale s0 0:", "2^")):
        print("title:", title)
print("text:", " ".join("".join(page.text).split()))
