-- How accounts begin (package signup). One row once somebody has chosen; without it administrators alone make them.
CREATE TABLE signup_settings (
    id      BIGINT NOT NULL PRIMARY KEY, -- 1
    mode    {{text}} NOT NULL,           -- see signup.Mode
    domains {{text}} NOT NULL            -- of addresses, folded, with a space between two
);

-- Links with which somebody who has no account gets one. A link that was used or revoked has no row any more.
CREATE TABLE signup_links (
    id            {{id}},
    digest        {{bytes}},        -- SHA-256 of the secret in the link; NULL: the mail with it was not sent yet
    digest_before {{bytes}},        -- that of the mail before, if it was sent twice
    address       {{text}} NOT NULL, -- to which it was mailed, folded; empty: whoever invites hands it over
    asked         BOOLEAN NOT NULL,  -- whoever has the address asked for it; else an administrator invites
    inviter_id    BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- NULL: the operator, or nobody
    org_id        BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- which the person joins; NULL: none
    team_id       BIGINT REFERENCES teams (id) ON DELETE SET NULL,   -- of the organization
    created_at    BIGINT NOT NULL,   -- by the database's clock, as what follows
    expires_at    BIGINT NOT NULL
);
CREATE UNIQUE INDEX signup_links_digest ON signup_links (digest);
CREATE INDEX signup_links_digest_before ON signup_links (digest_before);
CREATE INDEX signup_links_address ON signup_links (address, id);
CREATE INDEX signup_links_expiry ON signup_links (expires_at);
CREATE INDEX signup_links_of_inviter ON signup_links (inviter_id);
CREATE INDEX signup_links_of_org ON signup_links (org_id);
CREATE INDEX signup_links_of_team ON signup_links (team_id);

-- Accounts that people asked for, and about which an administrator has not decided yet.
CREATE TABLE signup_requests (
    id           {{id}},
    login        {{text}} NOT NULL,
    login_folded {{text}} NOT NULL UNIQUE,
    name         {{text}} NOT NULL,
    address      {{text}} NOT NULL,    -- folded; empty: none
    verified     BOOLEAN NOT NULL,     -- the person got a link there
    reason       {{text}} NOT NULL,    -- what the person says
    password     {{text}} NOT NULL,    -- as in accounts
    network      {{text}} NOT NULL,    -- the address from which it was asked
    created_at   BIGINT NOT NULL
);
CREATE INDEX signup_requests_in_time ON signup_requests (created_at);
