-- People and organizations share one space of logins, as in every address.
CREATE TABLE accounts (
    id            {{id}},
    login         {{text}} NOT NULL,
    login_folded  {{text}} NOT NULL UNIQUE,
    kind          SMALLINT NOT NULL,            -- 1 user, 2 organization
    name          {{text}},
    email         {{text}},
    company       {{text}},
    blog          {{text}},
    location      {{text}},
    bio           {{text}},                     -- of an organization: its description
    site_admin    BOOLEAN NOT NULL DEFAULT FALSE,
    default_role  SMALLINT NOT NULL DEFAULT 0,  -- of an organization: what members have on its repositories
    public_repos  BIGINT NOT NULL DEFAULT 0,
    private_repos BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);

CREATE TABLE members (
    org_id     BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    owner      BOOLEAN NOT NULL,
    public     BOOLEAN NOT NULL DEFAULT FALSE,  -- the membership may be seen by everyone
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id)
);
-- Lists of members are filtered, paged and counted within these alone.
CREATE INDEX members_by_role ON members (org_id, owner, user_id);
CREATE INDEX members_in_public ON members (org_id, public, user_id, owner);
CREATE INDEX members_of_user ON members (user_id, org_id, owner, public);
CREATE INDEX memberships_in_public ON members (user_id, public, org_id, owner);

CREATE TABLE tokens (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    digest       {{bytes}} NOT NULL UNIQUE,     -- SHA-256 of the token
    hint         {{text}} NOT NULL,             -- its first characters, to tell tokens apart
    note         {{text}} NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
CREATE INDEX tokens_of_account ON tokens (account_id, id);
