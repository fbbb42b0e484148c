-- Objects of Git LFS (package lfs): which of them a repository has. Each has a file of its own, which may be a hard link.
CREATE TABLE lfs_objects (
    id      {{id}},
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    file_id BIGINT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    oid     {{text}} NOT NULL, -- the SHA-256 of the content, in hexadecimal digits
    size    BIGINT NOT NULL    -- as of the file
);
CREATE UNIQUE INDEX lfs_objects_by_oid ON lfs_objects (repo_id, oid);
CREATE INDEX lfs_objects_of_file ON lfs_objects (file_id);
CREATE INDEX lfs_objects_anywhere ON lfs_objects (oid);

-- Paths that only the owner of the lock may change.
CREATE TABLE lfs_locks (
    id        {{id}},
    repo_id   BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    path      {{text}} NOT NULL,
    owner_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    locked_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX lfs_locks_by_path ON lfs_locks (repo_id, path);
CREATE INDEX lfs_locks_of_owner ON lfs_locks (owner_id);
