-- Second factors of accounts (package account/factor), and how each session was made.
CREATE TABLE totps (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    secret     {{bytes}} NOT NULL,
    last_step  BIGINT NOT NULL,             -- of the last code that was used: none up to it is taken again
    created_at BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    digest     {{bytes}} NOT NULL,          -- SHA-256 of the code
    PRIMARY KEY (account_id, digest)
);

CREATE TABLE passkeys (
    id              {{id}},
    account_id      BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name            {{text}} NOT NULL,
    credential_id   {{bytes}} NOT NULL UNIQUE,
    public_key      {{bytes}} NOT NULL,
    sign_count      BIGINT NOT NULL,
    backup_eligible BOOLEAN NOT NULL,       -- as the authenticator said when it was added; it never changes
    created_at      BIGINT NOT NULL,
    last_used_at    BIGINT
);
CREATE INDEX passkeys_of_account ON passkeys (account_id, id);

-- Challenges that a browser has not answered yet.
CREATE TABLE passkey_challenges (
    digest     {{bytes}} NOT NULL PRIMARY KEY, -- SHA-256 of the challenge
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- who must answer; NULL: whoever has a passkey
    network    {{text}} NOT NULL,           -- that asked
    expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_of_network ON passkey_challenges (network, expires_at);
CREATE INDEX passkey_challenges_of_account ON passkey_challenges (account_id) WHERE account_id IS NOT NULL;

-- Of a session: by what it was made (package session), and when its user last confirmed who it is; NULL: when it
-- was made.
ALTER TABLE tokens ADD COLUMN made_with {{text}};
ALTER TABLE tokens ADD COLUMN confirmed_at BIGINT;
