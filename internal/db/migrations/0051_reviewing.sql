-- Files of pull requests that somebody has viewed, as they were then: another blob is to be viewed again.
CREATE TABLE viewed_files (
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE, -- of the pull request
    user_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    path     {{text}} NOT NULL,
    blob     {{text}} NOT NULL,
    PRIMARY KEY (issue_id, user_id, path)
) {{clustered}};
CREATE INDEX viewed_files_of_user ON viewed_files (user_id);
