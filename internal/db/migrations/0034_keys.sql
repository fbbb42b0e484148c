-- Public SSH keys. Each belongs to one user, or as a deploy key to one repository.
CREATE TABLE ssh_keys (
    id           {{id}},
    account_id   BIGINT REFERENCES accounts (id) ON DELETE CASCADE,           -- whose it is; NULL: a deploy key
    repo_id      BIGINT REFERENCES repos (id) ON DELETE CASCADE,              -- of a deploy key
    added_by     BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,  -- as whom a deploy key acts
    title        {{text}} NOT NULL,
    public_key   {{text}} NOT NULL,               -- type and base64
    fingerprint  {{text}} NOT NULL UNIQUE,        -- SHA256:...
    read_only    BOOLEAN NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,                          -- up to an hour late
    CHECK ((account_id IS NULL) <> (repo_id IS NULL))
);
CREATE INDEX ssh_keys_of_account ON ssh_keys (account_id, id);
CREATE INDEX ssh_keys_of_repo ON ssh_keys (repo_id, id);
CREATE INDEX ssh_keys_added_by ON ssh_keys (added_by);
