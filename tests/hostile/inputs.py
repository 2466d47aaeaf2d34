"""What a hostile site repeats, to make a scan begin again and again."""

from __future__ import annotations

# Each is repeated until it is as long as is wanted: what opens and never closes, what almost is
# something, and what many scans skip.
REPEATED = (
    *("<", "<a", "<a ", "<a b=", "<a b='", '<a b="', "<a b='>", "</", "</a", "<a/", "<!", "<!--", "-"),
    *("<!-- ", "-->", "--!>", "<?", "<?xml ", "<![CDATA[", "]]>", "<script x ", "<style x ", "<title x "),
    *("<textarea x ", "<iframe x ", "<xmp x ", "<script>", "<script><!--", "<title>", "<meta ", "<b x=1 "),
    *(" ", "\t", "\n", "\r\n", "\0", "a", "A", "0", "a ", "a,", "a;", "a=", "a:", "a.", "a-", "a/", "a&"),
    *("%", "%2", "%2F", "&", "&amp", "&#", "?", "?a", "?a=", ";a", ";a=", "/", "//", "/(", "/(S(", "../"),
    *("'", '"', "\\", '\\"', '"\\', "[", "{", '{"', '["', "/*", "//\n", "#", "*", "(", "\u200b", "é"),
    *("https://", "http://a", "http://a ", "//a", "a@", "user-agent", "user-agent:", "user agent", "\ufeff"),
    *("charset", "charset=", "charset =", "encoding", "encoding=", "location", "location =", "compatible;"),
    *("1.", "1;", "1; url=", "1-", "2020-", "-1", "+", "=", "W/", 'W/"', "max-age", "max-age=", "=1+1;"),
)

# Elements inside of each other, and beside each other, that are read.
ELEMENTS = (
    *("<div>", "<div>x", "<div class=nav>", "<div class=nav>x", "<article>x", "<main>", "<h1>x", "<p>x"),
    *("<a href=x>", "<a href=x>x<div>", "<ul><li>", "<table><td>", "<section role=main>", "<nav>", "<i id=@>"),
    *("<div itemscope>", "<div itemscope itemprop=a>", "<b itemprop=a>x", "<div itemscope itemref=a id=a>"),
    *("<div typeof=a>", "<div typeof=a property=b>", "<b property=b>x", "<div vocab=x>", "<div prefix='a: b'>"),
    *("<base href=x>", "<link rel=canonical href=x>", "<meta name=robots content=none>", "<title>x</title>"),
    *("<meta http-equiv=refresh content='1; url=x'>", "<img src=x srcset=x>", "<svg><title>x", "<select><option>"),
    *("<script type=ld+json>{}</script>", "<script type=ld+json>[", "<template>", "<form>x</form>", "<a b='>'>"),
)


def grown(unit: str, length: int) -> str:
    return unit * max(length // len(unit), 1)
