-- Mails that became comments (package reply), so that each does once.
CREATE TABLE mail_replies (
    digest     {{bytes}} NOT NULL PRIMARY KEY, -- SHA-256 of the account and the Message-ID
    created_at BIGINT NOT NULL
);
CREATE INDEX mail_replies_in_time ON mail_replies (created_at);
