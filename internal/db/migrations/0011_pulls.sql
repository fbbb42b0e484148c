-- What a pull request has besides its issue.
CREATE TABLE pulls (
    issue_id      BIGINT NOT NULL PRIMARY KEY REFERENCES issues (id) ON DELETE CASCADE,
    repo_id       BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- that it asks to merge into
    number        BIGINT NOT NULL,              -- as that of the issue
    open          BOOLEAN NOT NULL,             -- as the issue
    base_ref      {{text}} NOT NULL,            -- a branch, without refs/heads/
    base_sha      {{text}} NOT NULL,            -- its tip when the head was last new
    head_repo_id  BIGINT REFERENCES repos (id) ON DELETE SET NULL,
    head_owner_id BIGINT NOT NULL REFERENCES accounts (id),
    head_ref      {{text}} NOT NULL,
    head_sha      {{text}} NOT NULL,
    modifiable    BOOLEAN NOT NULL DEFAULT FALSE, -- maintainers of the base may push to the head
    merged_by     BIGINT,
    merge_sha     {{text}},                     -- of the base branch, once it is merged

    -- The last test merge: of which two, and what came of it. It says nothing of
    -- others, so nothing is written when a base moves.
    tested_base   {{text}},
    tested_head   {{text}},
    test_sha      {{text}},                     -- the merge commit; NULL: they do not merge
    additions     BIGINT NOT NULL DEFAULT 0,    -- as the last test counted
    deletions     BIGINT NOT NULL DEFAULT 0,
    changed_files BIGINT NOT NULL DEFAULT 0,
    commits       BIGINT NOT NULL DEFAULT 0,

    -- The job: a row is wanted until a test merge of its present pair is stored.
    wanted        BOOLEAN NOT NULL DEFAULT FALSE,
    due_at        BIGINT NOT NULL DEFAULT 0,    -- not before: somebody works on it until then, or failed
    tries         SMALLINT NOT NULL DEFAULT 0,
    UNIQUE (repo_id, number)
);
CREATE INDEX pulls_by_head ON pulls (head_repo_id, head_ref, open);
CREATE INDEX pulls_by_base ON pulls (repo_id, base_ref, open);
CREATE INDEX pulls_wanted ON pulls (due_at, issue_id) WHERE wanted;
-- Of each pair of branches there is one open pull request at most.
CREATE UNIQUE INDEX pulls_open ON pulls (repo_id, base_ref, head_repo_id, head_ref) WHERE open;

-- Names of branches that pull requests are listed by, for postings to point at.
CREATE TABLE pull_branches (
    id       {{id}},
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- that has the pull requests
    owner_id BIGINT NOT NULL,                   -- of the head; 0: a base
    name     {{text}} NOT NULL,
    UNIQUE (repo_id, owner_id, name)
);
