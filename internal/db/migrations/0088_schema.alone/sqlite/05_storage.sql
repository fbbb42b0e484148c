-- Files, folders, and what counts in quotas.

-- Files that are not Git objects, by the names that they have on disk. A row is added after its file, and
-- neither changes (package file).
CREATE TABLE files (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name       TEXT NOT NULL UNIQUE,                       -- random: 32 hexadecimal digits
    size       BIGINT NOT NULL,                            -- in bytes
    sha256     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The account in whose quota it counts, if that could not push; NULL: the repository's owner.
    payer_id   BIGINT REFERENCES accounts (id) ON DELETE SET NULL
);
CREATE INDEX files_of_repo ON files (repo_id);
CREATE INDEX files_by_payer ON files (payer_id, size) WHERE payer_id IS NOT NULL;

-- Files that people put into texts of a repository: pictures in issues, logs.
CREATE TABLE attachments (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    file_id      BIGINT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    address_key  TEXT NOT NULL UNIQUE, -- random: 26 letters and digits of its address
    name         TEXT NOT NULL,
    content_type TEXT NOT NULL,        -- detected, never as the uploader said
    size         BIGINT NOT NULL,      -- as of the file
    uploader_id  BIGINT NOT NULL REFERENCES accounts (id),
    created_at   BIGINT NOT NULL
);
CREATE INDEX attachments_of_file ON attachments (file_id);
CREATE INDEX attachments_listed ON attachments (repo_id, id);
CREATE INDEX attachments_by_size ON attachments (repo_id, size, id);
CREATE INDEX attachments_by_uploader ON attachments (uploader_id, repo_id, id);

-- What a user's pull requests brought into repositories from forks. It counts in that user's quota as long as
-- the repository exists.
CREATE TABLE brought (
    user_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kb      BIGINT NOT NULL, -- in KiB
    PRIMARY KEY (user_id, repo_id)
);
CREATE INDEX brought_by_repo ON brought (repo_id);

-- Ids of repositories that are being made: a folder may exist, the row does not yet. The transaction that
-- adds the row of repos removes this one.
CREATE TABLE reserved_repos (
    id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL -- since when, by the database's clock
);
CREATE INDEX reserved_repos_by_age ON reserved_repos (at);

-- Jobs: repositories whose packs are being consolidated, or where that failed.
CREATE TABLE packings (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL, -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX packings_due ON packings (due_at, repo_id);

-- Job: which of the 256 folders that hold repositories' folders is swept next. One row, once that has begun.
CREATE TABLE folder_sweep (
    id     BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    shard  BIGINT NOT NULL,
    due_at BIGINT NOT NULL, -- see db.Jobs
    tries  BIGINT NOT NULL DEFAULT 0
);

-- Jobs: purges that run, or that did not finish.
CREATE TABLE purges (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL,           -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0,
    folder  BIGINT NOT NULL DEFAULT 0, -- the next repos.purges, by the purge that has the lease
    pause   BIGINT NOT NULL DEFAULT 0  -- until then, by the database's clock, no ref moves
);

-- Folders of deleted repositories that still exist. They count in the quotas of their owners.
CREATE TABLE discarded (
    repo_id  BIGINT NOT NULL PRIMARY KEY, -- no row of repos has it any more
    due_at   BIGINT NOT NULL,             -- see db.Jobs
    tries    BIGINT NOT NULL DEFAULT 0,
    purges   BIGINT NOT NULL,             -- repos.purges, for the folder's name
    at       BIGINT NOT NULL,             -- when it was deleted, also for the name
    owner_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    size_kb  BIGINT NOT NULL,             -- repos.size_kb
    request  TEXT                         -- the id of the request that deleted it, for the log
);
CREATE INDEX discarded_by_owner ON discarded (owner_id);
CREATE INDEX discarded_by_time ON discarded (due_at, repo_id);
