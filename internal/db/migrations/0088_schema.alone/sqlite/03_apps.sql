-- GitHub Apps and where they are installed.

-- GitHub Apps: programs with rights of their own, which act as a bot where they are installed.
CREATE TABLE apps (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id     BIGINT NOT NULL REFERENCES accounts (id),
    bot_id       BIGINT NOT NULL REFERENCES accounts (id), -- the account of kind 3, SLUG[bot], as which it acts
    slug         TEXT NOT NULL UNIQUE,
    client_id    TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    description  TEXT,
    external_url TEXT NOT NULL,
    -- Everybody may read about it, also where it is not installed.
    public       BOOLEAN NOT NULL,
    public_key   BLOB NOT NULL,                            -- in PKIX form; the private key is not kept
    permissions  TEXT NOT NULL,                            -- "contents=write,metadata=read"
    events       TEXT NOT NULL,                            -- ",push,issues,"
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX apps_of_owner ON apps (owner_id);
CREATE INDEX apps_of_bot ON apps (bot_id);

-- Codes for the manifest flow: the program that created an App exchanges one for the App's keys, once.
CREATE TABLE app_codes (
    code       BLOB NOT NULL PRIMARY KEY, -- SHA-256
    app_id     BIGINT NOT NULL UNIQUE REFERENCES apps (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);

-- Accounts on which an App is installed, for all of their repositories or for some.
CREATE TABLE installations (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id       BIGINT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    every        BOOLEAN NOT NULL, -- all repositories, also later ones; FALSE: those in installation_repos
    permissions  TEXT NOT NULL,    -- as the account granted them
    events       TEXT NOT NULL,
    suspended_at BIGINT,           -- NULL: not suspended
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    UNIQUE (app_id, account_id)
);
CREATE INDEX installations_of_account ON installations (account_id, id);

-- The repositories of an installation that is not for all. A repository that has another owner now does not
-- count.
CREATE TABLE installation_repos (
    installation_id BIGINT NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
    repo_id         BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (installation_id, repo_id)
);
CREATE INDEX installation_repos_of_repo ON installation_repos (repo_id);

-- Who suspended an installation. Each party ends only its own suspension, the operator all. The installation
-- is suspended while its suspended_at is set; rows older than that time belong to an earlier suspension and
-- do not count. Without a row that counts, the account's owner suspended it. The operator's row outlives the
-- installation.
CREATE TABLE installation_suspensions (
    app_id       BIGINT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    party        BIGINT NOT NULL, -- 1 the App, 2 the account's owner, 3 the operator or a site administrator
    suspended_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, account_id, party)
);
CREATE INDEX installation_suspensions_of_account ON installation_suspensions (account_id);
