"""The examples of docs/redis.md and docs/postgres.md give what they say: blocks of redis, after "> ", and of sql, after
"=> "."""

import pathlib
import re
import subprocess
import sys

from server import Server

DOCUMENTS = pathlib.Path(__file__).parents[2] / "docs"


def examples(document, language, prompt):
    """(what is typed, what comes then) of every block of a language."""
    text = (DOCUMENTS / document).read_text()
    for block in re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for example in re.split(rf"^{prompt} ", block, flags=re.MULTILINE)[1:]:
            lines = example.splitlines()
            # a statement goes on to its semicolon
            typed = next((i for i, line in enumerate(lines) if line.endswith(";")), 0) + 1
            yield "\n".join(lines[:typed]), "\n".join(line.rstrip() for line in lines[typed:])


def output(*command, given=None):
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def main():
    n = wrong = 0
    with Server() as server:
        redis = ["redis-cli", "-p", str(server.port), "--no-raw"]
        psql = ["psql", "-X", "-q"]
        given = [(*example, redis) for example in examples("redis.md", "redis", ">")]
        given += [(*example, psql) for example in examples("postgres.md", "sql", "=>")]
        for typed, expected, program in given:
            n += 1
            # one line of redis-cli's own quoting; a statement of psql's
            found = output(*program, given=typed + "\n")
            if found != expected:
                wrong += 1
                print(f"--- {typed}\n--- the document has\n{expected}\n--- but there came\n{found}")
    print(f"docs/redis.md, docs/postgres.md: {n} examples, {wrong} of them wrong")
    return wrong > 0 or n < 20


if __name__ == "__main__":
    sys.exit(main())
