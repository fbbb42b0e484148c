-- Public keys that sign commits and tags. An OpenPGP key has a row of its own for each subkey, which repeats the
-- addresses of its identities, and in which the end of the primary key counts as well.
CREATE TABLE signing_keys (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind         BIGINT NOT NULL,           -- 1: OpenPGP, 2: SSH
    primary_id   BIGINT NOT NULL,           -- of a subkey, the row of its primary key; else 0
    handle       {{text}} NOT NULL,         -- what signatures name: the key id in 16 hexadecimal digits, or SHA256:...
    name         {{text}} NOT NULL,
    public_key   {{text}} NOT NULL,         -- the packet of the key in base64; of SSH its type and base64
    armor        {{text}} NOT NULL,         -- the whole OpenPGP key, in the row of its primary key; else empty
    emails       {{text}} NOT NULL,         -- folded addresses of the identities, separated by spaces
    capabilities BIGINT NOT NULL,           -- bits: 1 sign, 2 and 4 encrypt, 8 certify
    revoked      BOOLEAN NOT NULL,
    made_at      BIGINT NOT NULL,           -- by its owner
    expires_at   BIGINT,
    created_at   BIGINT NOT NULL,
    UNIQUE (account_id, handle)
);
CREATE INDEX signing_keys_of_account ON signing_keys (account_id, kind, primary_id, id);
CREATE INDEX signing_keys_by_handle ON signing_keys (handle, id);
CREATE INDEX signing_keys_expiry ON signing_keys (expires_at) WHERE expires_at IS NOT NULL;
