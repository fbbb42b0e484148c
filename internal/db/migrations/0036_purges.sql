-- A number that grows with each purge of objects from the repository, which moves what
-- stays into a folder of its own, whose name holds the number. Whoever looked into an
-- earlier folder may not name objects in a transaction.
ALTER TABLE repos ADD COLUMN purges BIGINT NOT NULL DEFAULT 0;

-- Purges that run, or that did not come to their end.
CREATE TABLE purges (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL,                    -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0,
    folder  BIGINT NOT NULL DEFAULT 0,          -- what repos.purges becomes by the purge that has the lease
    pause   BIGINT NOT NULL DEFAULT 0           -- until then, by the database's clock, no ref moves
);

-- Backups that were made: a purge names those that may still hold what it removes.
CREATE TABLE past_backups (
    id    {{id}},
    at    BIGINT NOT NULL,                      -- the moment that it holds
    place {{text}} NOT NULL                     -- a folder; empty: a stream
);
