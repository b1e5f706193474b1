"""What README.md and docs/ say of the command is what the command says of itself.

    docs_test.py CASE ZEVENT FOLDER
"""

import pathlib
import re
import subprocess
import sys

zevent, folder = "", pathlib.Path()

VERB = re.compile(r"^  ([a-z]+) +(.*)$", re.MULTILINE)


def said(*words):
    return subprocess.run([zevent, *words], check=True, capture_output=True, text=True).stdout


def pages():
    return [folder / "README.md", folder / "CONTRIBUTING.md", folder / "CHANGELOG.md", *sorted(folder.glob("docs/*.md"))]


def text_of(*names):
    return "\n".join((folder / each).read_text() for each in names)


def expect(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def verbs():
    return dict(VERB.findall(said("--help").split("verbs:")[1]))


def case_verbs():
    """The README's table has the verbs, with the words of the help."""
    told = dict(re.findall(r"^\| `([a-z]+)` \| (.*) \|$", text_of("README.md"), re.MULTILINE))
    expect(told == verbs() and told, f"the README has {told}, the help {verbs()}")


def case_options():
    """Every option is explained somewhere, and every option that a command line shows is there."""
    everything = "\n".join(each.read_text() for each in pages())
    known = {verb: set(re.findall(r"--[a-z][a-z-]+", said(verb, "--help"))) for verb in verbs()}
    for verb, options in known.items():
        short = dict(re.findall(r"^  (-[a-z]), (--[a-z-]+)", said(verb, "--help"), re.MULTILINE))
        by_short = {long for short, long in short.items() if f"`{short}" in everything}
        for option in options - by_short - {"--help"}:
            expect(re.search(re.escape(option) + r"(?![a-z-])", everything), f"no page has {option} of '{verb}'")
    shown = re.findall(r"\bzevent ([a-z]+) ([^\n`]*)", everything)
    expect(len(shown) > 30, "no command lines were found")
    for verb, rest in shown:
        if verb not in known:
            continue
        # What stands behind "--" is the program's own, and behind ")" or "," another sentence's.
        own = re.split(r" -- |[),;]| \| ", rest + " ")[0]
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", own):
            expect(option in known[verb], f"'zevent {verb}' has no {option}: zevent {verb} {rest}")


def case_links():
    """What is linked to is there."""
    found = 0
    for page in pages():
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if link.startswith("http"):
                continue
            found += 1
            expect((page.parent / link).exists(), f"{page.name} links to {link}")
    expect(found > 20, "no links were found")


def case_numbers():
    """There are as many rules as the pages say."""
    rules = len(said("check", "--list-rules").splitlines())
    for name in ("README.md", "CHANGELOG.md"):
        told = re.findall(r"\b(\d+) rules\b", text_of(name))
        expect(told == [str(rules)], f"{name} speaks of {told} rules; there are {rules}")


def case_variables():
    """Every variable that a page names is one that is read."""
    known = set(re.findall(r"^(ZEVENT_\w+)=", said("doctor", "--variables"), re.MULTILINE))
    # Of the build, not of the command.
    known |= {"ZEVENT_INVARIANT", "ZEVENT_DEPS_DIR"}
    named = set(re.findall(r"\bZEVENT_[A-Z_]+\b", "\n".join(each.read_text() for each in pages())))
    expect(len(named) > 10 and named <= known, f"these are not read: {named - known}")


if __name__ == "__main__":
    zevent, folder = sys.argv[2], pathlib.Path(sys.argv[3])
    globals()["case_" + sys.argv[1]]()
