-- Issues that stand first in their repository, and the comment that stands first on its issue.
ALTER TABLE issues ADD COLUMN pinned_at BIGINT;         -- NULL: it is not pinned
ALTER TABLE issues ADD COLUMN pinned_by BIGINT;
ALTER TABLE issue_comments ADD COLUMN pinned_at BIGINT; -- NULL: it is not pinned
ALTER TABLE issue_comments ADD COLUMN pinned_by BIGINT;
CREATE INDEX issues_pinned ON issues (repo_id, pinned_at) WHERE pinned_at IS NOT NULL;
CREATE UNIQUE INDEX issue_comments_pinned ON issue_comments (issue_id) WHERE pinned_at IS NOT NULL;
CREATE INDEX issues_pinned_by ON issues (pinned_by) WHERE pinned_by IS NOT NULL;
CREATE INDEX issue_comments_pinned_by ON issue_comments (pinned_by) WHERE pinned_by IS NOT NULL;

-- Numbers whose issues are gone: deleted, or transferred to another repository. Servers of the version before
-- hold issues in memory that are gone.
CREATE TABLE departed_issues (
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number     BIGINT NOT NULL,
    moved_to   BIGINT,                          -- id of the issue that it is now; NULL: it was deleted
    generation BIGINT NOT NULL,                 -- the issues_generation with which it went
    PRIMARY KEY (repo_id, number)
);
CREATE INDEX departed_issues_since ON departed_issues (repo_id, generation);
CREATE INDEX departed_issues_moved ON departed_issues (moved_to) WHERE moved_to IS NOT NULL;
CREATE INDEX issue_events_by_source ON issue_events (source_id) WHERE source_id IS NOT NULL;
