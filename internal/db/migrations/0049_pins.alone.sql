-- Issues that stand first in their repository, and the comment that stands first on its issue.
ALTER TABLE issues ADD COLUMN pinned_at BIGINT;         -- NULL: it is not pinned
ALTER TABLE issues ADD COLUMN pinned_by BIGINT;
ALTER TABLE issue_comments ADD COLUMN pinned_at BIGINT; -- NULL: it is not pinned
ALTER TABLE issue_comments ADD COLUMN pinned_by BIGINT;
CREATE INDEX issues_pinned ON issues (repo_id, pinned_at) WHERE pinned_at IS NOT NULL;
CREATE UNIQUE INDEX issue_comments_pinned ON issue_comments (issue_id) WHERE pinned_at IS NOT NULL;
CREATE INDEX issues_pinned_by ON issues (pinned_by) WHERE pinned_by IS NOT NULL;
CREATE INDEX issue_comments_pinned_by ON issue_comments (pinned_by) WHERE pinned_by IS NOT NULL;
