-- The schema of a new database. Its files run in the order of their names, those of the other engine never.
--
-- Times (..._at) are microseconds since 1970, in UTC. A text in ..._folded is in lower case. A table of jobs
-- has due_at and tries: a worker leases a row by moving due_at, by the database's clock, and removes it with
-- the work done (db.Jobs). Counters spare lists from counting rows; arbor check compares them.

-- Accounts, their addresses and memberships.

-- Users, organizations and the bots of Apps. They share one space of logins, as in every address.
CREATE TABLE accounts (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    login         TEXT NOT NULL,
    login_folded  TEXT NOT NULL UNIQUE,           -- in lower case
    kind          SMALLINT NOT NULL,              -- 1 user, 2 organization, 3 bot of an App
    name          TEXT,
    email         TEXT,
    company       TEXT,
    blog          TEXT,
    location      TEXT,
    bio           TEXT,                           -- of an organization: its description
    site_admin    BOOLEAN NOT NULL DEFAULT FALSE,
    -- Of an organization: the role of members in its repositories, as in collaborators.
    default_role  SMALLINT NOT NULL DEFAULT 0,
    public_repos  BIGINT NOT NULL DEFAULT 0,      -- counters: how many repositories it owns
    private_repos BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    followers     BIGINT NOT NULL DEFAULT 0,      -- counters: rows of the table followers on either side
    following     BIGINT NOT NULL DEFAULT 0,
    private_forks BOOLEAN NOT NULL DEFAULT FALSE, -- of an organization: its private repositories may be forked
    suspended_at  BIGINT,                         -- NULL: not suspended. Tokens of a suspended account do not work
    -- Repositories that it may own. NULL: the server's setting; -1: unlimited.
    quota_repos   BIGINT,
    quota_kb      BIGINT,                         -- KiB of all of them; NULL and -1 as above
    password      TEXT,                           -- its hash, for sign-in on pages alone; NULL: none
    quota_text_kb BIGINT                          -- KiB of text that it may write; NULL and -1 as above
);
-- All site administrators are read when one of them is to stop.
CREATE INDEX accounts_site_admins ON accounts (id) WHERE site_admin = TRUE;
-- The list of all organizations goes by id.
CREATE INDEX accounts_organizations ON accounts (id) WHERE kind = 2;
-- Searches for accounts, in each order.
CREATE INDEX accounts_by_followers ON accounts (followers, id);
CREATE INDEX accounts_by_repos ON accounts (public_repos, id);
CREATE INDEX accounts_by_creation ON accounts (created_at, id);

-- Logins that accounts had before, and that nobody else gets. One leads to its account as long as that
-- exists.
CREATE TABLE former_logins (
    login_folded TEXT NOT NULL PRIMARY KEY,
    account_id   BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    created_at   BIGINT NOT NULL -- when the login was given up
);
CREATE INDEX former_logins_of_account ON former_logins (account_id);

-- The e-mail addresses that people claim. Commits of an address belong to the account that verified it, one
-- at most.
CREATE TABLE emails (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    address    TEXT NOT NULL, -- folded
    verified   BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, address)
);
CREATE UNIQUE INDEX emails_verified ON emails (address) WHERE verified = TRUE;

-- Members of organizations.
CREATE TABLE members (
    org_id     BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    owner      BOOLEAN NOT NULL,               -- an owner of the organization
    public     BOOLEAN NOT NULL DEFAULT FALSE, -- everybody sees the membership
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id)
);
-- Lists of members are filtered, paged and counted within these indexes alone.
CREATE INDEX members_by_role ON members (org_id, owner, user_id);
CREATE INDEX members_in_public ON members (org_id, public, user_id, owner);
CREATE INDEX members_of_user ON members (user_id, org_id, owner, public);
CREATE INDEX memberships_in_public ON members (user_id, public, org_id, owner);

-- Users follow users and organizations.
CREATE TABLE followers (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- who follows
    target_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- whom
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, target_id)
) WITHOUT ROWID;
CREATE INDEX followers_in_time ON followers (target_id, created_at, user_id);
CREATE INDEX following_in_time ON followers (user_id, created_at, target_id);
