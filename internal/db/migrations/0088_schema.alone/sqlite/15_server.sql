-- The plant store, and what the server keeps about itself.

-- The plants of the plant store.
CREATE TABLE plants (
    id       INTEGER PRIMARY KEY,
    owner_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name     TEXT NOT NULL,
    tag      TEXT
);
CREATE INDEX plants_of_owner ON plants (owner_id, id);

-- The seed with which the store was filled. One row at most: a seed goes into an empty store only.
CREATE TABLE seeds (
    digest     BLOB PRIMARY KEY,             -- SHA-256 of its text
    applied_at BIGINT NOT NULL,
    -- FALSE: the seed was only begun, and may be applied again (package seed).
    finished   BOOLEAN NOT NULL DEFAULT TRUE
);

-- Backups that are running. While one has its lease, no folder that was set aside is removed: the backup may
-- need its objects.
CREATE TABLE backups (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    due_at BIGINT NOT NULL, -- the end of the lease, see db.Jobs
    tries  BIGINT NOT NULL DEFAULT 0
);

-- Backups that were made. A purge names those that may still hold what it removes.
CREATE TABLE past_backups (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    at    BIGINT NOT NULL,               -- the moment whose state it holds
    place TEXT NOT NULL,                 -- a folder; empty: a stream
    whole BOOLEAN NOT NULL DEFAULT FALSE -- it was finished
);

-- How much the callers of all nodes used of their rate limits. A window ends at the same time on all nodes;
-- its rows are removed then.
CREATE TABLE rate_counts (
    ends BIGINT NOT NULL,
    key  TEXT NOT NULL, -- of the caller, as the limiter names it
    used BIGINT NOT NULL,
    PRIMARY KEY (ends, key)
) WITHOUT ROWID;

-- Which data folder belongs to this database: the one whose file arbor-store.json has the same id. One row,
-- once a server or a command has opened the store (package identity).
CREATE TABLE store_identity (
    id         BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    store      TEXT NOT NULL,            -- the id of the store
    folder     TEXT NOT NULL,            -- where the data folder was last, for people
    moved_from TEXT NOT NULL DEFAULT '', -- the id of the store whose rows were moved here
    moved_to   TEXT NOT NULL DEFAULT '', -- where the rows went; empty: they are here
    moved_at   BIGINT
);
