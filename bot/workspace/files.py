"""The bytes of uploaded files: a folder, or memory where the workspace keeps nothing."""

from pathlib import Path


class FileStore:
    """File contents by file id."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._memory: dict[str, bytes] = {}

    def write(self, file_id: str, content: bytes) -> None:
        if self._folder is None:
            self._memory[file_id] = content
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / file_id).write_bytes(content)

    def read(self, file_id: str) -> bytes | None:
        """The content, or None if nothing was uploaded under this id."""
        if self._folder is None:
            return self._memory.get(file_id)
        path = self._folder / file_id
        return path.read_bytes() if path.exists() else None
