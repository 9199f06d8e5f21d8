"""``funnelling push`` and ``pull``: models to the Hugging Face Hub and from there."""

import argparse

from funnelling.commands import options, printing


def add_to(commands: options.Commands) -> None:
    push = commands.add_parser(
        "push",
        help="share a model on the Hugging Face Hub",
        description="Share a model on the Hugging Face Hub: model.json, its arrays and a card. If it keeps "
        "documents, choose --compact or --with-documents. Needs a token (HF_TOKEN, or hf auth login).",
        epilog=options.examples("push model owner/name --compact --license apache-2.0"),
    )
    push.add_argument("model", type=options.model_folder, metavar="MODEL", help="folder of the model")
    push.add_argument("address", metavar="ADDRESS", help="owner/name[/folder][@branch], created if missing")
    push.add_argument("--private", action="store_true", help="for you and those you let in; never in public")
    push.add_argument(
        "--license", metavar="ID", help="the Hub's name of a licence, such as apache-2.0 (none)"
    )
    push.add_argument("--message", metavar="TEXT", help="message of the commit")
    kept = push.add_mutually_exclusive_group()
    kept.add_argument("--compact", action="store_true", help="send a copy that keeps no training documents")
    kept.add_argument("--with-documents", action="store_true", help="send what it keeps, and report.html")
    push.add_argument("--force", action="store_true", help="replace a README.md that is not of a model")
    options.add_json(push)
    push.set_defaults(run=run)
    pull = commands.add_parser(
        "pull",
        help="copy a model from the Hugging Face Hub",
        description="Copy a model from the Hub into a folder, where it can be changed. Its card is new.",
        epilog=options.examples("pull hf://owner/name -o model"),
    )
    pull.add_argument(
        "address", metavar="ADDRESS", help="hf://owner/name, with /folder or @revision where there is one"
    )
    options.add_new_model(pull)
    pull.add_argument("--encoder", metavar="DIR", help="folder of its encoder, which the copy remembers")
    options.add_force(pull)
    options.add_json(pull)
    pull.set_defaults(run=run_pull)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.report.card import shown_bytes
    from funnelling.storage import push_model

    names = ("model", "address", "private", "license", "message", "compact", "with_documents", "force")
    pushed = push_model(**{name: getattr(arguments, name) for name in names})
    if arguments.json:
        printing.print_json(pushed.record())
    else:
        files = ", ".join(f"{name} ({shown_bytes(size)})" for name, size in pushed.files.items())
        print(f"{pushed.keeps}\nFiles:  {files}\nCommit: {pushed.commit}\nModel:  {pushed.address}")


def run_pull(arguments: argparse.Namespace) -> None:
    from funnelling.storage import pull_model

    pull_model(arguments.address, arguments.output, encoder=arguments.encoder, force=arguments.force)
    if arguments.json:
        printing.print_json({"model": arguments.output})
    else:
        print(f"Model: {arguments.output}\nNext:  funnelling inspect {arguments.output}")
