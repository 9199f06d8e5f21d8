"""``funnelling completion``: the shell completes commands, options and what they take."""

import argparse

from funnelling.cli import options

SHELLS = ("bash", "zsh", "fish")


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "completion",
        help="let the shell complete commands and options",
        description="Print what a shell needs to complete commands, options, methods, goals, languages, "
        "models and documents.",
        epilog="""\
for the shell that is open, and from then on in its start-up file:
  bash (~/.bashrc)                   eval "$(funnelling completion bash)"
  zsh (~/.zshrc, after compinit)     eval "$(funnelling completion zsh)"
  fish (~/.config/fish/config.fish)  funnelling completion fish | source""",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from argcomplete.shell_integration import shellcode

    # Where nothing fits, such as after --jobs, nothing is offered: files would not do.
    print(shellcode(["funnelling"], use_defaults=False, shell=arguments.shell))
