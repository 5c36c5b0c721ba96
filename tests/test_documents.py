"""Documents keep their word: commands in ```console blocks print what stands below them, pages made from sources are as the
sources are, and links between documents lead somewhere.

In a block, "$ " begins a command, "> " goes on with it, and a line "..." stands for any lines. The blocks of a document are
run one after another in one empty folder.

SPDX-License-Identifier: MIT
"""
import os, re, subprocess, tempfile, unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("LEGOSKETCH", ROOT / "build" / "legosketch")).resolve()
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])


def commands(text):
    """(command, what it prints) of all blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.split("\n")
            while lines and lines[0].startswith("> "):
                command += "\n" + lines.pop(0)[2:]
            yield command, "\n".join(lines).strip("\n")


def agrees(found, expected):
    if "..." not in expected.split("\n"):
        return found == expected
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in expected.split("\n"))
    return re.fullmatch(pattern, found, re.DOTALL) is not None


def anchors(text):
    """The names that a page's headings have, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


class Documents(unittest.TestCase):
    def test_commands(self):
        counted = 0
        for document in DOCUMENTS:
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
                for command, expected in commands(document.read_text()):
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    found = "\n".join(line.rstrip() for line in done.stdout.strip("\n").split("\n"))
                    self.assertTrue(agrees(found, expected),
                                    f"{document.name}: $ {command}\nhas\n{expected}\nbut there came\n{found}")
                    counted += 1
        self.assertGreater(counted, 10)

    def test_reference(self):
        made = subprocess.run([ROOT / "scripts" / "api-reference", "c"], capture_output=True, text=True, check=True)
        self.assertEqual(made.stdout, (ROOT / "docs" / "api-c.md").read_text(), "run scripts/api-reference c > docs/api-c.md")

    def test_links(self):
        for document in DOCUMENTS:
            text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
            for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = (document.parent / path) if path else document
                self.assertTrue(target.exists(), f"{document.name} links to {link}, which is not there")
                if anchor and target.suffix == ".md":
                    self.assertIn(anchor, anchors(target.read_text()), f"{document.name} links to {link}")

    def test_index(self):
        """docs/index.md leads to every page."""
        text = (ROOT / "docs" / "index.md").read_text()
        for document in ROOT.glob("docs/*.md"):
            if document.name != "index.md":
                self.assertIn(f"({document.name}", text)


if __name__ == "__main__":
    unittest.main()
