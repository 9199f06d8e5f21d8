"""``funnelling push``: a model to the Hugging Face Hub, for others to use."""

import argparse

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "push",
        help="share a model on the Hugging Face Hub",
        description="Share a model on the Hugging Face Hub, in one commit: model.json, its arrays, and a "
        "card. Commands that read a model take it from there as hf://owner/name. A model that keeps "
        "something of its training documents is refused, unless --compact or --with-documents says what is "
        "to become of that. Needs a token (HF_TOKEN, or hf auth login).",
        epilog=options.examples("push model owner/name --compact --license apache-2.0"),
    )
    parser.add_argument("model", type=options.model_folder, metavar="MODEL", help="folder of the model")
    parser.add_argument(
        "address",
        metavar="OWNER/NAME",
        help="repository, which is made where there is none; or a /folder in it",
    )
    parser.add_argument(
        "--private", action="store_true", help="for you and those you let in; a public repository is refused"
    )
    parser.add_argument("--revision", metavar="BRANCH", help="branch, made where there is none (main)")
    parser.add_argument(
        "--license", metavar="ID", help="the Hub's name of a licence, such as apache-2.0, for the card (none)"
    )
    parser.add_argument("--message", metavar="TEXT", help="what the commit is about")
    documents = parser.add_mutually_exclusive_group()
    documents.add_argument(
        "--compact",
        action="store_true",
        help="send a copy that keeps nothing of the training documents, and cannot learn on",
    )
    documents.add_argument(
        "--with-documents",
        action="store_true",
        help="send what the model keeps of its training documents, and report.html, which shows texts",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace a README.md or report.html there that is not of a model; an earlier model always is",
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.report.card import shown_bytes
    from funnelling.storage.sharing import MESSAGE, push_model

    pushed = push_model(
        arguments.model,
        arguments.address,
        private=arguments.private,
        revision=arguments.revision,
        license=arguments.license,
        message=arguments.message or MESSAGE,
        compact=arguments.compact,
        with_documents=arguments.with_documents,
        force=arguments.force,
    )
    if arguments.json:
        printing.print_json(pushed.record())
        return
    print(pushed.keeps)
    print("Files:  " + ", ".join(f"{name} ({shown_bytes(size)})" for name, size in pushed.files.items()))
    print(f"Commit: {pushed.commit}")
    print(f"Model:  {pushed.address}")
