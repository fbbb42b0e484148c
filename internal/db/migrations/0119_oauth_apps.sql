-- OAuth Apps, what users allowed them, and the codes on the way from one to the other (package oauth).
CREATE TABLE oauth_apps (
    id          {{id}},
    owner_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id   {{text}} NOT NULL UNIQUE,
    name        {{text}} NOT NULL,
    description {{text}} NOT NULL,
    homepage    {{text}} NOT NULL,
    callbacks   {{text}} NOT NULL,              -- the addresses to which codes may go, one a line
    device_flow BOOLEAN NOT NULL DEFAULT FALSE, -- it may use the device flow
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX oauth_apps_of_owner ON oauth_apps (owner_id, id);

CREATE TABLE oauth_secrets (
    id           {{id}},
    app_id       BIGINT NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    digest       {{bytes}} NOT NULL UNIQUE,     -- SHA-256 of the secret
    hint         {{text}} NOT NULL,             -- its last characters, to recognize it
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT                         -- up to an hour late
);
CREATE INDEX oauth_secrets_of_app ON oauth_secrets (app_id, id);

-- What a user allowed an OAuth App. Its codes and tokens go with it.
CREATE TABLE oauth_grants (
    id         {{id}},
    app_id     BIGINT NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    scopes     {{text}} NOT NULL,               -- all that were ever allowed
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (app_id, account_id)
);
CREATE INDEX oauth_grants_of_account ON oauth_grants (account_id, id);

-- Codes that a browser carries to an OAuth App, which redeems them once. A used one stays for a day: if somebody
-- brings it again, the token that it was redeemed for ends.
CREATE TABLE oauth_codes (
    digest     {{bytes}} NOT NULL PRIMARY KEY,  -- SHA-256 of the code
    grant_id   BIGINT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    redirect   {{text}} NOT NULL,               -- the address to which the code went
    challenge  {{text}} NOT NULL,               -- of PKCE, by S256; empty: none
    scopes     {{text}} NOT NULL,
    expires_at BIGINT NOT NULL,
    token_id   BIGINT                           -- that it was redeemed for; NULL: not yet
);
CREATE INDEX oauth_codes_of_grant ON oauth_codes (grant_id, expires_at);
CREATE INDEX oauth_codes_expiry ON oauth_codes (expires_at);

-- The token of an OAuth App; NULL: of nobody's app.
ALTER TABLE tokens ADD COLUMN grant_id BIGINT REFERENCES oauth_grants (id) ON DELETE CASCADE;
CREATE INDEX tokens_of_grant ON tokens (grant_id, id) WHERE grant_id IS NOT NULL;
