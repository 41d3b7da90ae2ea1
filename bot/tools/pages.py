"""From a web page to the text that a person would see on it.

What a browser does not show (scripts, comments, hidden, tiny, transparent or off-screen parts, white words on nothing) is where orders
to a model are put, so it is pruned before the text is taken. Rules of the page's own style sheets count as far as they are simple. Forms
that only look different are folded into one.
"""

import re
import unicodedata
from html import unescape
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bot.errors import ToolFailed
from bot.tools.sanitize import clean, line

DEEPEST = 2000  # open elements at one place; parsers take quadratic time over more
MOST_LINKS, MOST_LOOKED_AT = 50, 5000

_BREAK = "\ue000"  # stands for a line's end until white space is folded; no page may bring its own
_NEVER_SEEN = (
    "script,style,template,noscript,noframes,svg,canvas,audio,video,iframe,object,embed,datalist,dialog:not([open]),head,"
    "[hidden],[aria-hidden='true'],.sr-only,.visually-hidden,.visuallyhidden,.screen-reader-text,.screen-reader-only"
)
_REST = r"(?![a-z0-9-])[^>\"]*(?:\"[^\"]*\"[^>\"]*)*>"
_BLOCK = re.compile(
    "</?(?:address|article|aside|blockquote|br|caption|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr"
    f"|legend|li|main|nav|ol|option|p|pre|section|summary|table|tbody|textarea|tfoot|thead|tr|ul){_REST}"
)
_CELL = re.compile(f"</t[dh]{_REST}")
_TAG = re.compile(r"</?[a-zA-Z][^>\"]*(?:\"[^\"]*\"[^>\"]*)*>")
_KEPT = re.compile(r"<(pre|textarea)[\s>].*?</\1>", re.DOTALL)
_REMARK = re.compile(r"<!--.*?-->|<!--.*\Z", re.DOTALL)
_HIDES = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:(?:0+(?:\.0\d*)?|\.0\d*)%?(?:;|!|$)|content-visibility:hidden"
    r"|font-size:(?:(?:0+(?:\.0\d*)?|\.0\d*)[a-z%]*|[12]px|1pt)(?:;|!|$)|text-indent:-\d{3,}|(?:left|top|right|bottom|margin-left|margin-top):-\d{4,}"
    r"|clip:rect\((?:0|1px)|clip-path:inset\((?:50|100)%|transform:scale\(0|max-height:0(?:px)?(?:;|!|$)"
    r"|color:(?:transparent|rgba\([^)]*,0(?:\.0+)?\)))"
)
_PALE = re.compile(r"(?:^|;)color:(?:white|#fff(?:fff)?|rgb\(255,255,255\))(?:;|!|$)")
_NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    r"|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup)[\s/>])[a-z]",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{};]*(?:;|\{(?:[^{}]|\{[^{}]*\})*\})")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def read(html: str, base: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Title, visible text with one line per block, and the first links that lead to web pages, as words and absolute address.

    Characters of the text that cannot be seen are still in it: whoever makes an observation of it removes and counts them.
    Raises `ToolFailed` for a page that nests too deeply to be read in bounded time.
    """
    _check_depth(html)
    tree = LexborHTMLParser(html.replace(_BREAK, " ").replace("\0", " "))
    heading = tree.css_first("title")
    title = line(_folded(heading.text()), 200) if heading else ""
    _prune(tree)
    return title, _text(tree), _links(tree, base)


def html_text(html: str) -> tuple[str, str]:
    """Title and visible text, without characters that cannot be seen; see `read`."""
    title, text, _ = read(html, "")
    lines = (one.strip() for one in clean(text).split("\n"))
    return title, "\n".join(one for one in lines if one)


def _text(tree: LexborHTMLParser) -> str:
    body = tree.body
    words = _shaped(unescape(_broken_up((body.html or "") if body else "")))  # what cannot be seen is removed, and counted, with the rest
    lines = (part.strip() for part in words.split(_BREAK))
    return "\n".join(part for part in lines if part)


def _broken_up(html: str) -> str:
    """What the parser wrote back, tags out, lines marked. It quotes all attributes, so that a pattern can tell where a tag ends."""
    html = _REMARK.sub("", html)
    html = _KEPT.sub(lambda found: found[0].replace("\n", _BREAK), html)
    html = _BLOCK.sub(_BREAK, html)
    return _TAG.sub("", _CELL.sub(" ", html))


def _links(tree: LexborHTMLParser, base: str) -> list[tuple[str, str]]:
    """Each address once."""
    found: dict[str, str] = {}
    for node in tree.css("a[href]")[:MOST_LOOKED_AT]:
        words = line(_folded(node.text()), 120)
        try:
            address = urljoin(base, (node.attributes.get("href") or "").strip()).partition("#")[0]
        except ValueError:
            continue
        if words and address.startswith(("http://", "https://")) and len(address) <= 2000 and address != base:
            found.setdefault(address, words)
        if len(found) == MOST_LINKS:
            break
    return [(words, address) for address, words in found.items()]


def _check_depth(html: str) -> None:
    depth = 0
    for tag in _NESTING.finditer(html):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > DEEPEST:
            raise ToolFailed("The page nests its parts too deeply to be read.")


def _prune(tree: LexborHTMLParser) -> None:
    for selector in _hidden_by_sheets(tree):
        for node in _selected(tree, selector):
            _drop(node)
    for node in tree.css(_NEVER_SEEN):
        _drop(node)
    for node in tree.css("[style]"):
        style = _plain(node.attributes.get("style") or "")
        if _HIDES.search(style) or (_PALE.search(style) and "background" not in style):
            _drop(node)
    for node in tree.css("font[color]"):
        if (node.attributes.get("color") or "").strip().lower() in ("white", "#fff", "#ffffff"):
            _drop(node)


def _drop(node: LexborNode) -> None:
    """Whole pages hide themselves until their scripts have run; that is no reason to read nothing."""
    if node.tag not in ("html", "body"):
        node.decompose()


def _hidden_by_sheets(tree: LexborHTMLParser) -> list[str]:
    """Selectors that the page's style sheets hide always; rules for print, narrow screens and the like are left out."""
    sheets = _COMMENT.sub("", "\n".join(node.text() for node in tree.css("style")))[:200_000]
    hidden = [selector.strip() for selector, style in _RULE.findall(_AT_RULE.sub("", sheets)) if _HIDES.search(_plain(style))]
    return list(dict.fromkeys(hidden))[:100]


def _selected(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    try:
        return tree.css(selector)
    except Exception:  # noqa: BLE001 - whatever a stranger wrote that is no selector selects nothing
        return []


def _plain(style: str) -> str:
    return re.sub(r"\s+", "", _COMMENT.sub("", style)).lower()


def _folded(text: str) -> str:
    return " ".join(clean(_shaped(text)).split())


def _shaped(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())
