-- Conversations on lines of pull requests that somebody marked as resolved. A thread has the id of its first comment,
-- which may be gone.
CREATE TABLE resolved_threads (
    root_id     BIGINT NOT NULL PRIMARY KEY,
    issue_id    BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE, -- of the pull request
    resolved_by BIGINT NOT NULL REFERENCES accounts (id),
    resolved_at BIGINT NOT NULL
);
CREATE INDEX resolved_threads_of_issue ON resolved_threads (issue_id);
CREATE INDEX resolved_threads_by ON resolved_threads (resolved_by);
