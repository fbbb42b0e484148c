-- Since when an account is suspended: its tokens do not work, and what it made stays.
ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;

-- The administrators of the site are read when one of them is to stop.
CREATE INDEX accounts_site_admins ON accounts (id) WHERE site_admin = TRUE;
