-- Ids of repositories that are being made: a folder may be there, a row is not
-- yet. The transaction that adds the row of repos removes that of the id.
CREATE TABLE reserved_repos (
    id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL                          -- since when, by the database's clock
);
CREATE INDEX reserved_repos_by_age ON reserved_repos (at);

-- Repositories whose packs somebody consolidates, or where that failed.
CREATE TABLE packings (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL,                    -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX packings_due ON packings (due_at, repo_id);

-- The 256 folders that repositories' folders are in, and when each is to be
-- looked through for what nobody needs.
CREATE TABLE folder_sweeps (
    shard  BIGINT NOT NULL PRIMARY KEY,
    due_at BIGINT NOT NULL,                     -- see db.Jobs
    tries  BIGINT NOT NULL DEFAULT 0
);
