"""The Hugging Face Hub, where models are shared: addresses there, and files that come and go."""

from funnelling.hub.addresses import HubAddress, is_address
from funnelling.hub.downloading import Downloads
from funnelling.hub.uploading import upload

__all__ = ["Downloads", "HubAddress", "is_address", "upload"]
