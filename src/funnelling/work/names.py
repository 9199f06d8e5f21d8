"""Names that users and other programs know us by, each in one place: of variables and of files."""

MODEL = "model.json"  # in the folder of a model: what makes it one

# Variables of the environment.
CONFIG = "FUNNELLING_CONFIG"
JOBS = "FUNNELLING_JOBS"
TOKEN = "FUNNELLING_TOKEN"
CACHE = "FUNNELLING_CACHE"
NO_COLOUR = "NO_COLOR"
VARIABLES = {
    CONFIG: "file of settings, where --config is not given",
    JOBS: "threads, where --jobs is not given",
    TOKEN: "token that serve asks for, where --token-file is not given",
    CACHE: "folder for files that are made once",
    # Those of the Hub are read by its own library.
    "HF_TOKEN": "token that is shown to the Hugging Face Hub",
    "HF_ENDPOINT": "address of another Hub",
    "HF_HOME": "folder of models that were downloaded from the Hub",
    "HF_HUB_OFFLINE": "1: nothing is downloaded",
    NO_COLOUR: "no colours, if it is set to anything",
}
