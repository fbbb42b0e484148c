-- Branches that were made to work on an issue. One that is deleted is linked no longer.
CREATE TABLE linked_branches (
    id         {{id}},
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE, -- of the branch
    name       {{text}} NOT NULL,               -- of the branch, without refs/heads/
    created_at BIGINT NOT NULL,
    UNIQUE (issue_id, repo_id, name)
);
CREATE INDEX linked_branches_of_repo ON linked_branches (repo_id, name);
