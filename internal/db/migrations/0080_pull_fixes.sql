-- What bodies of pull requests say that they fix, for linked: in searches. The worker that indexes texts writes it.
CREATE TABLE pull_fixes (
    pull_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number  BIGINT NOT NULL,                    -- of an issue of the repository, which may not be there
    PRIMARY KEY (pull_id, number)
);
CREATE INDEX pull_fixes_by_number ON pull_fixes (repo_id, number);
INSERT INTO texts_changed (issue_id, comment_id) SELECT id, 0 FROM issues WHERE pull = TRUE AND (lower(body) LIKE '%clos%'
    OR lower(body) LIKE '%fix%' OR lower(body) LIKE '%resolv%');
