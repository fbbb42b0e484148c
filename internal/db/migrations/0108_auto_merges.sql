-- Pull requests that the server merges as soon as all rules of their base allow it.
CREATE TABLE auto_merges (
    id              {{id}}, -- another one whenever auto-merge is enabled
    issue_id        BIGINT NOT NULL UNIQUE REFERENCES issues (id) ON DELETE CASCADE,
    repo_id         BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- the base repository
    enabled_by      BIGINT NOT NULL REFERENCES accounts (id), -- merges the pull request
    installation_id BIGINT NOT NULL, -- of the App whose bot enabled_by is; 0: it is a user
    enabled_at      BIGINT NOT NULL,
    method          SMALLINT NOT NULL, -- 0 merge commit, 1 squash, 2 rebase
    title           {{text}}, -- of the commit; NULL: the default at the time of the merge
    message         {{text}},
    email           {{text}}, -- of the commit's author; NULL: the address of the account

    -- The job: TRUE if something has changed since the pull request was last examined.
    wanted          BOOLEAN NOT NULL DEFAULT TRUE,
    due_at          BIGINT NOT NULL DEFAULT 0, -- see db.Jobs
    tries           SMALLINT NOT NULL DEFAULT 0
);
CREATE INDEX auto_merges_of_repo ON auto_merges (repo_id);
CREATE INDEX auto_merges_by ON auto_merges (enabled_by);
CREATE INDEX auto_merges_wanted ON auto_merges (due_at, id) WHERE wanted;

-- The open pull requests of a repository that have a commit as their head.
CREATE INDEX pulls_by_repo_head ON pulls (repo_id, head_sha) WHERE open;
