"""Armor in each form that docs/format-seal.md permits, alone and behind a page, and forms just past what it permits."""

import base64
from collections.abc import Iterator

BEGIN, END = "-----BEGIN DEADPAN SEALED FILE-----", "-----END DEADPAN SEALED FILE-----"
PAGE = "<!doctype html>\n<!-- Deadpan page -->\n"
ELEMENT = '<script type="text/plain" id="deadpan-sealed">\n'


def usual(sealed: bytes) -> str:
    return written(sealed, 64)


def written(sealed: bytes, columns: int, end: str = "\n", prefix: str = "") -> str:
    body = base64.b64encode(sealed).decode()
    lines = [BEGIN, *(body[at : at + columns] for at in range(0, len(body), columns)), END]
    return "".join(prefix + line + end for line in lines)


def permitted(sealed: bytes) -> Iterator[tuple[str, str]]:
    text = usual(sealed)
    body = base64.b64encode(sealed).decode()
    yield "as it is written", text
    yield "no line end behind it", text.removesuffix("\n")
    for name, end in {"CR LF": "\r\n", "CR": "\r", "LF LF": "\n\n", "LF CR": "\n\r"}.items():
        yield f"lines that end in {name}", written(sealed, 64, end)
    yield "line ends of several kinds", text.replace("\n", "\r", 3).replace("\n", "\r\n", 3)
    for columns in (1, 3, 63, 65, 76, 1000, 8192, 8193, len(body)):
        yield f"lines of {columns} symbols", written(sealed, columns)
    yield "white space behind the lines", text.replace("\n", " \t\v\f\n")
    yield "white space before the lines", written(sealed, 64, prefix=" \t\v\f")
    yield (
        "white space between symbols",
        written(sealed, 1, " ").replace(f"{BEGIN} ", f"{BEGIN}\n").replace(END, f"\n{END}"),
    )
    yield "much white space around the first line", f"{' ' * 2000}{BEGIN}{' ' * 2000}\n{body}\n{END}"
    yield "much white space behind the last line", text.removesuffix("\n") + "\t" * 5000 + "\n" * 5000
    yield "a byte order mark", "\ufeff" + text
    yield "empty lines before it", "\n\r\n \t\r" + text
    yield "a byte order mark and empty lines", "\ufeff\n\n" + text
    yield "empty lines after it", text + "\n\r\n \t\r"
    for prefix in ("> ", ">", ">> ", "> > >", "  > "):
        yield f"quoted with {prefix!r}", written(sealed, 64, prefix=prefix)
    yield "quoted, with empty lines around it", f"> \n>\n{written(sealed, 64, prefix='> ')}>\n> \n"
    yield "quoted by a reader of mail that quotes no empty line", "\n" + written(sealed, 64, "\n\n", "> ")
    yield "as late as it may begin", "\n" * (4096 - len(BEGIN)) + text
    page = in_page(text)
    yield "a page", page
    yield "a page with a byte order mark", "\ufeff" + page
    yield "a page without the end of its element", page.removesuffix("</script>\n")
    yield "a page without its last line end", page.removesuffix("\n")
    yield "a page with empty lines at its end", page.replace("</script>\n", "\n \t\n</script>\n\n \n")
    yield "a page without its element", PAGE + text + "</script>\n"
    for name, end in {"CR LF": "\r\n", "CR": "\r"}.items():
        yield f"a page whose lines end in {name}", page.replace("\n", end)
    yield "a page that names the beginning inside a line", in_page(text, f"<p>{BEGIN}\n {BEGIN}\n> {BEGIN}\n")
    yield "a page that is as long as it may be", long_page(text, 4 << 20)


def in_page(armor: str, body: str = "<html>\n</html>\n") -> str:
    return f"{PAGE}{body}{ELEMENT}{armor}</script>\n"


def long_page(armor: str, offset: int) -> str:
    """A page whose armor begins at an offset."""
    return in_page(armor, "x" * (offset - len(PAGE) - len(ELEMENT) - 1) + "\n")


def refused(sealed: bytes) -> Iterator[tuple[str, str]]:
    text = usual(sealed)
    lines = text.splitlines()
    yield "text before it", "Dear Bob,\n\n" + text
    yield "quoted text before it", "> Dear Bob,\n" + written(sealed, 64, prefix="> ")
    yield "text after it", text + "x"
    yield "text after it in the last line", text.removesuffix("\n") + " x\n"
    yield "text in the first line", text.replace(BEGIN, BEGIN + " x", 1)
    yield "armor twice", text + text
    yield "another end", text.replace("-----END DEADPAN", "-----END OTHER")
    yield "a damaged end", text.replace("-----END", "----END")
    yield "no end", "\n".join(lines[:-1]) + "\n"
    yield "half an end", text[:-10]
    yield "a beginning inside", "\n".join([*lines[:3], lines[0], *lines[3:]])
    yield "a header", "\n".join([lines[0], "Proc-Type: 4", "", *lines[1:]])
    yield "a comment", "\n".join([lines[0], "Comment: none", "", *lines[1:]])
    yield "a symbol that is none", text.replace(lines[1], lines[1][:-1] + "*")
    yield "a symbol of base64url", text.replace(lines[1], lines[1][:-1] + "-")
    yield "a quote inside a line", text.replace(lines[1], lines[1][:-1] + ">")
    yield "a byte order mark inside", text.replace("\n", "\n\ufeff", 1)
    yield "a no-break space", text.replace("\n", "\u00a0\n", 2)
    yield "a zero byte", text.replace("\n", "\0\n", 2)
    yield "no symbols", f"{BEGIN}\n{END}\n"
    yield "padding in the middle", text.replace(lines[1], lines[1][:-1] + "=")
    yield "too much padding", text.replace(f"\n{END}", f"====\n{END}")
    yield "a beginning in lower case", text.replace(BEGIN, BEGIN.lower())
    yield "a beginning that comes too late", "\n" * 4096 + text
    page = in_page(text)
    yield "a page without armor", PAGE + "<html>\n</html>\n"
    yield "a page that is too long", long_page(text, (4 << 20) + 1)
    yield "a page twice", page + page
    yield "a page with two ends of its element", page + "</script>\n"
    yield "a page with text at its end", page + "<p>"
    yield "a page with another end of its element", page.replace("</script>", "</SCRIPT>")
    yield "a page that begins armor itself", in_page(text, f"{BEGIN}\n")
    yield "a page with white space before the armor", page.replace(BEGIN, " " + BEGIN)
    yield "a page with text in the first line of the armor", page.replace(BEGIN, BEGIN + " x")
    yield "a page in capital letters", page.replace("doctype", "DOCTYPE")
    yield "a page with white space in its second line", page.replace(" page -->", " page --> ", 1)
    yield "a page whose armor ends in text", page.replace(f"{END}\n", f"{END}</script>\n", 1)
    yield "the end of an element behind armor alone", text + "</script>\n"
    if lines[-2].endswith("="):
        yield "no padding", text.replace("=", "")
        yield "some padding missing", text.replace("=\n", "\n") if lines[-2].endswith("==") else text.replace("=", "")
        at = text.index("=") - 1
        yield "unused bits that are set", text[:at] + chr(ord(text[at]) + 1) + text[at + 1 :]
