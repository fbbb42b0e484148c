-- Repositories that were deleted and can be restored until they are removed. They are hidden, as those of
-- deleted_repos, into which the worker moves them when they are due.
CREATE TABLE kept_repos (
    repo_id    BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    owner_id   BIGINT NOT NULL REFERENCES accounts (id),
    name       TEXT NOT NULL,    -- that it had
    private    BOOLEAN NOT NULL, -- what it was
    deleted_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL   -- when it is removed
);
CREATE INDEX kept_repos_of_owner ON kept_repos (owner_id, deleted_at);
CREATE INDEX kept_repos_due ON kept_repos (due_at, repo_id);
