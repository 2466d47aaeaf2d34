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


def grown(unit: str, length: int) -> str:
    return unit * max(length // len(unit), 1)
