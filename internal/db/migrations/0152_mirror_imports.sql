-- Pull mirrors that end with their first success: repositories that are imported once (package mirror).
CREATE TABLE mirror_imports (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE
);
