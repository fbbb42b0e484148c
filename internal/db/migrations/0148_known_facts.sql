-- What GraphQL shows of rules, labels and comments on commits. NULL: not known, since the row is older than the column.
ALTER TABLE rulesets ADD COLUMN creator_id BIGINT;
CREATE INDEX rulesets_creator ON rulesets (creator_id) WHERE creator_id IS NOT NULL;
ALTER TABLE labels ADD COLUMN created_at BIGINT;
ALTER TABLE labels ADD COLUMN updated_at BIGINT;
-- Why a comment is hidden, as in issue_comments. NULL: it is shown.
ALTER TABLE commit_comments ADD COLUMN hidden SMALLINT;
