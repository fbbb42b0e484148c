-- Branches that a push has moved, and whose new commits nobody has read yet for
-- what they say of issues. A row is written with the push and goes away with
-- what it leads to.
CREATE TABLE pushed_commits (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    actor_id   BIGINT NOT NULL REFERENCES accounts (id),
    name       {{text}} NOT NULL,           -- refs/heads/...
    old_sha    {{text}} NOT NULL,           -- zeros: the branch is new
    new_sha    {{text}} NOT NULL,
    created_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL,             -- not before: somebody works on it until then, or failed
    tries      SMALLINT NOT NULL DEFAULT 0
);
CREATE INDEX pushed_commits_due ON pushed_commits (due_at, id);
CREATE INDEX pushed_commits_of_repo ON pushed_commits (repo_id, actor_id, id);
