"""Build the site or the man pages: `python docs/site/build.py html build/site`.

Warnings are errors, and so are links within the site that lead nowhere; ``linkcheck`` asks other hosts for
those that leave it. ``--no-examples`` shows the examples without running them.
"""

import argparse
import os
from pathlib import Path

os.environ["NO_COLOR"] = "1"  # Python 3.14 colours what parsers say on a terminal

from sphinx.cmd.build import build_main

from commands import Form
from links import broken, read_pages
from stage import HERE, stage, stage_commands


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("builder", choices=("html", "man", "linkcheck"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--no-examples", action="store_true", help="do not run the examples")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    work = output.with_name(f"{output.name}-source")
    source, copied = work / "pages", work / "copied"
    if arguments.builder == "man":
        stage_commands(source, Form.MAN)
        options = ["-t", "man"]
    else:
        stage(source, copied)
        options = ["-D", f"html_extra_path={copied}", "-D", f"plot_gallery={int(not arguments.no_examples)}"]
    strict = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet"]
    folders = ["-c", str(HERE), "-d", str(work / "read"), str(source), str(output)]
    status = build_main(["-b", arguments.builder, *strict, *options, *folders])
    lost = list(broken(read_pages(output))) if arguments.builder == "html" else []
    for link in lost:
        print(f"{link} leads nowhere")
    return status or int(bool(lost))


if __name__ == "__main__":
    raise SystemExit(main())
