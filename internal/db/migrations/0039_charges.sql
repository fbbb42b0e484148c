-- What came into repositories from forks, with a person's pull requests: it counts in that
-- person's quota as long as the repository is there.
CREATE TABLE brought (
    user_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kb      BIGINT NOT NULL,                    -- in KiB
    PRIMARY KEY (user_id, repo_id)
);
CREATE INDEX brought_by_repo ON brought (repo_id);

-- Folders of deleted repositories that are still there. They count in their owners' quotas.
CREATE TABLE discarded (
    repo_id  BIGINT NOT NULL PRIMARY KEY,       -- no row of repos has it any more
    due_at   BIGINT NOT NULL,                   -- see db.Jobs
    tries    BIGINT NOT NULL DEFAULT 0,
    purges   BIGINT NOT NULL,                   -- what repos.purges was, for the folder's name
    at       BIGINT NOT NULL,                   -- when it was deleted, for the name as well
    owner_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    size_kb  BIGINT NOT NULL,                   -- what the repository counted
    request  {{text}}                           -- the id of the request that deleted it, for the log
);
CREATE INDEX discarded_by_owner ON discarded (owner_id);
CREATE INDEX discarded_by_time ON discarded (due_at, repo_id);

-- The id of the request that pushed them, for the log.
ALTER TABLE pushed_commits ADD COLUMN request {{text}};
