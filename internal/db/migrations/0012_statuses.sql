-- What was told of commits: each status ever.
CREATE TABLE statuses (
    id          {{id}},
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha         {{text}} NOT NULL,
    context     {{text}} NOT NULL,              -- as it was sent
    state       SMALLINT NOT NULL,              -- 1 error, 2 failure, 3 pending, 4 success
    target_url  {{text}},
    description {{text}},
    creator_id  BIGINT NOT NULL REFERENCES accounts (id),
    created_at  BIGINT NOT NULL
);
CREATE INDEX statuses_of_commit ON statuses (repo_id, sha, id);

-- The latest of each context of a commit.
CREATE TABLE status_contexts (
    repo_id   BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha       {{text}} NOT NULL,
    context   {{text}} NOT NULL,                -- folded
    status_id BIGINT NOT NULL,
    state     SMALLINT NOT NULL,                -- of that status
    total     BIGINT NOT NULL,                  -- statuses of the context
    PRIMARY KEY (repo_id, sha, context)
);

-- What these come to, so that nobody counts them.
CREATE TABLE status_commits (
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha      {{text}} NOT NULL,
    total    BIGINT NOT NULL DEFAULT 0,         -- statuses
    contexts BIGINT NOT NULL DEFAULT 0,
    failed   BIGINT NOT NULL DEFAULT 0,         -- contexts whose latest is an error or a failure
    pending  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (repo_id, sha)
);

-- The commits that a pull request offers, as its last test merge found them: to
-- find the pull requests of a commit without walking a history.
CREATE TABLE pull_commits (
    repo_id  BIGINT NOT NULL,                   -- as of the pull request
    sha      {{text}} NOT NULL,
    issue_id BIGINT NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    PRIMARY KEY (repo_id, sha, issue_id)
);
CREATE INDEX pull_commits_of_pull ON pull_commits (issue_id);
CREATE INDEX pulls_by_merge ON pulls (repo_id, merge_sha);
