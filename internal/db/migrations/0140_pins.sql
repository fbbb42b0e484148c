-- Repositories that people and organizations show first on their pages, in the order of place (package pin).
CREATE TABLE pins (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    place      SMALLINT NOT NULL,
    PRIMARY KEY (account_id, repo_id)
);
CREATE INDEX pins_of_repo ON pins (repo_id);
