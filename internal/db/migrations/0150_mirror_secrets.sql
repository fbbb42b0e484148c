-- Secrets of webhooks by which the source of a pull mirror asks for a run (package mirror).
CREATE TABLE mirror_secrets (
    repo_id    BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    secret     {{text}} NOT NULL, -- encrypted with a key in the data folder
    created_at BIGINT NOT NULL
);
