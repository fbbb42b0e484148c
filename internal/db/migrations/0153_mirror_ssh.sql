-- Mirrors by SSH (package mirror): the key pair with which the server signs in at the other one, and the key by which it
-- knows that one. Its row may be of a later migration, so it is removed with the mirror by hand.
CREATE TABLE mirror_ssh (
    mirror_id    BIGINT NOT NULL PRIMARY KEY,
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    public_key   {{text}} NOT NULL,
    secret       {{text}} NOT NULL,           -- the private key, encrypted with a key in the data folder
    host_key     {{text}} NOT NULL DEFAULT '', -- the fingerprint; empty: the next key that is seen is remembered
    host_kind    {{text}} NOT NULL DEFAULT '', -- the kind of that key; empty: it was set by hand
    offered_key  {{text}} NOT NULL DEFAULT ''  -- the fingerprint of another one, for which the mirror was stopped
);
CREATE INDEX mirror_ssh_of_repo ON mirror_ssh (repo_id);
