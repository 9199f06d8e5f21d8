"""``funnelling push`` and ``pull``: models to the Hugging Face Hub and from there."""

from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import AsJson, FilePath, Overwriting, output_option
from funnelling.commands.values import model_folder
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.storage.places import Pushed


class Push(AsJson):
    """Upload a model to the Hugging Face Hub: model.json, its arrays and a card.

    If it stores training documents, choose what the copy keeps. Needs a token (HF_TOKEN, or hf auth login).
    """

    examples = ("push model owner/name --keep nothing --license apache-2.0",)

    model: FilePath = argument("folder of the model", "MODEL", type=model_folder)
    address: str = argument("owner/name[/folder][@branch]; created if missing", "OWNER/NAME")
    private: bool = flag("for you and those you let in; a public repository is refused", common=True)
    keep: str | None = option(
        "what the copy stores of training documents: nothing, or words or texts as the model does",
        "WHAT",
        default=None,
        choices=("words", "texts", "nothing"),
        common=True,
    )
    license: str | None = option(
        "the Hub's name of a licence, such as apache-2.0 (none)", "ID", default=None, common=True
    )
    message: str | None = option("message of the commit", "TEXT", default=None)
    force: bool = flag("replace a README.md that is not of a model")

    def run(self, report: Reporter = silent, verbose: int = 0) -> "Pushed":
        from funnelling.storage import push_model

        return push_model(**{name: getattr(self, name) for name in Push.own})

    def show(self, result: "Pushed") -> None:
        from funnelling.report.card import shown_bytes

        if self.json:
            printing.print_json(result.record())
            return
        files = ", ".join(f"{name} ({shown_bytes(size)})" for name, size in result.files.items())
        print(f"{result.keeps}\nFiles:  {files}\nCommit: {result.commit}\nModel:  {result.address}")


class Pull(Overwriting, AsJson):
    """Download a model from the Hub into a folder, where it can be changed. Its card is new."""

    examples = ("pull hf://owner/name -o model",)

    address: str = argument("hf://owner/name, with /folder or @revision where there is one", "ADDRESS")
    output: FilePath = output_option("folder of the model", "MODEL", type=model_folder)
    encoder: FilePath | None = option(
        "folder of its encoder, which the copy remembers", "DIR", default=None, common=True
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> None:
        from funnelling.storage import pull_model

        pull_model(self.address, self.output, encoder=self.encoder, force=self.force)

    def show(self, result: None) -> None:
        if self.json:
            printing.print_json({"model": self.output})
        else:
            print(f"Model: {self.output}\nNext:  funnelling inspect {self.output}")
