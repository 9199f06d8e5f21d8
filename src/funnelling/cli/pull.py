"""``funnelling pull``: a model from the Hugging Face Hub into a folder, where it can be changed."""

import argparse

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "pull",
        help="copy a model from the Hugging Face Hub",
        description="Copy a model from the Hugging Face Hub into a folder, where it can be changed. Commands "
        "that only read a model take hf://owner/name themselves. Nothing that runs comes along, nor the "
        "pages beside the model: its card is written anew.",
        epilog=options.examples("pull hf://owner/name -o model"),
    )
    parser.add_argument(
        "address", metavar="ADDRESS", help="hf://owner/name, with /folder or @revision where there is one"
    )
    options.add_new_model(parser)
    parser.add_argument(
        "--encoder",
        metavar="DIR",
        help="folder of the encoder that the model was trained with, where it has one; the copy remembers it",
    )
    options.add_force(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.storage.sharing import pull_model

    pull_model(arguments.address, arguments.output, encoder=arguments.encoder, force=arguments.force)
    if arguments.json:
        printing.print_json({"model": arguments.output})
        return
    print(f"Model: {arguments.output}")
    print(f"Next:  funnelling inspect {arguments.output}")
