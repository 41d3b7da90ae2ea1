"""Which names of files usually hold credentials: those that the file tools never touch, and that make whatever reads them a risk."""

import re
import unicodedata
from fnmatch import fnmatchcase

CREDENTIALS = (
    *(".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf"),
    *(".htpasswd", ".git-credentials", ".vault-token", ".env", ".env.*", "*.env", ".envrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "credentials", "credentials.*", "client_secret*.json"),
    *("service-account*.json", "service_account*.json", "secrets.*"),
)
HARMLESS = frozenset({".env.example", ".env.sample", ".env.template"})
SEPARATORS = re.compile(r"[/\\]")


def is_credential(name: str) -> bool:
    """Does a file or folder of this name usually hold credentials? Upper case, look-alike widths and trailing dots do not hide it."""
    folded = unicodedata.normalize("NFKC", name).casefold().split(":")[0].rstrip(". ")
    return folded not in HARMLESS and any(fnmatchcase(folded, pattern) for pattern in CREDENTIALS)


def on_the_way(path: str) -> bool:
    """Is any folder of that path, or the file itself, one that usually holds credentials?"""
    return any(is_credential(name) for name in SEPARATORS.split(path) if name)
