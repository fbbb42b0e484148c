-- What an act is about, a JSON list (notification.What): what a mail says of it.
ALTER TABLE notification_acts ADD COLUMN about {{text}} NOT NULL DEFAULT '';

-- The newest act of which the account was told, and that of the time before: one told twice is mailed once.
ALTER TABLE notification_threads ADD COLUMN told_act BIGINT NOT NULL DEFAULT 0;
ALTER TABLE notification_threads ADD COLUMN told_before BIGINT NOT NULL DEFAULT 0;

-- Which notifications a person gets by mail. Without a row all but those of own acts, at once.
CREATE TABLE notification_settings (
    user_id       BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    participating BOOLEAN NOT NULL,
    watching      BOOLEAN NOT NULL,
    own           BOOLEAN NOT NULL,
    digest        SMALLINT NOT NULL -- 0 at once, 1 a list of each day, 2 of each week
);

-- One row: the key that signs the addresses in mails by which people unsubscribe.
CREATE TABLE mail_keys (
    id     BIGINT NOT NULL PRIMARY KEY, -- 1
    secret {{bytes}} NOT NULL
);
