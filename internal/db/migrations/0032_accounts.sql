-- Since when an account is suspended: its tokens do not work, and what it made stays.
ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;

-- The administrators of the site are read when one of them is to stop.
CREATE INDEX accounts_site_admins ON accounts (id) WHERE site_admin = TRUE;

-- Logins that accounts had before, which nobody else gets. One leads to its account for
-- as long as that exists.
CREATE TABLE former_logins (
    login_folded {{text}} NOT NULL PRIMARY KEY,
    account_id   BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    created_at   BIGINT NOT NULL                -- when the login was given up
);
CREATE INDEX former_logins_of_account ON former_logins (account_id);

-- An archived repository is read-only for everybody.
ALTER TABLE repos ADD COLUMN archived BOOLEAN NOT NULL DEFAULT FALSE;
