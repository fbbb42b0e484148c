-- Comments that somebody hid, which pages fold: why. NULL: shown. 1 abuse, 2 duplicate, 3 off-topic, 4 outdated,
-- 5 resolved, 6 spam (issuekit.Hidden).
ALTER TABLE issue_comments ADD COLUMN hidden SMALLINT;
ALTER TABLE reviews ADD COLUMN hidden SMALLINT;
ALTER TABLE review_comments ADD COLUMN hidden SMALLINT;
