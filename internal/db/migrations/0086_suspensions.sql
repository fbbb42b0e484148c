-- Who suspended an installation of an App: each ends only its own suspension, the operator all. The installation is
-- suspended while suspended_at is set; rows from before that are of an earlier suspension and do not count. Without a
-- row that counts it was suspended by a program of before, and is the account owner's. The operator's row outlasts
-- the installation.
CREATE TABLE installation_suspensions (
    app_id       BIGINT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    party        BIGINT NOT NULL, -- 1: the App, 2: the account's owner, 3: the operator or a site administrator
    suspended_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, account_id, party)
);
CREATE INDEX installation_suspensions_of_account ON installation_suspensions (account_id);
