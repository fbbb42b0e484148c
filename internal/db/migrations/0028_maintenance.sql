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

-- Which of the 256 folders that hold repositories' folders is looked through
-- next for what nobody needs: one row, once it has begun.
CREATE TABLE folder_sweep (
    id     BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    shard  BIGINT NOT NULL,
    due_at BIGINT NOT NULL,                     -- see db.Jobs
    tries  BIGINT NOT NULL DEFAULT 0
);
