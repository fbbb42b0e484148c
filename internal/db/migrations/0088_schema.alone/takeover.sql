-- What a database with all migrations up to 0087 needs to become this schema: triggers that wrote feeds, notes of
-- changed texts and work for package detect. Package forge and the features do that now.
-- sqlite
DROP TRIGGER IF EXISTS issues_activity;
DROP TRIGGER IF EXISTS issue_events_activity;
DROP TRIGGER IF EXISTS issue_comments_activity;
DROP TRIGGER IF EXISTS reviews_activity;
DROP TRIGGER IF EXISTS reviews_submitted_activity;
DROP TRIGGER IF EXISTS review_comments_activity;
DROP TRIGGER IF EXISTS review_comments_shown_activity;
DROP TRIGGER IF EXISTS releases_activity;
DROP TRIGGER IF EXISTS releases_published_activity;
DROP TRIGGER IF EXISTS commit_comments_activity;
DROP TRIGGER IF EXISTS repos_activity;
DROP TRIGGER IF EXISTS repos_detection;
DROP TRIGGER IF EXISTS repos_first_detection;
DROP TRIGGER IF EXISTS issues_new_text;
DROP TRIGGER IF EXISTS issues_other_text;
DROP TRIGGER IF EXISTS issue_comments_new_text;
DROP TRIGGER IF EXISTS issue_comments_other_text;
DROP TRIGGER IF EXISTS repos_new_text;
DROP TRIGGER IF EXISTS repos_other_text;
DROP TRIGGER IF EXISTS accounts_new_text;
DROP TRIGGER IF EXISTS accounts_other_text;

-- postgres
DROP FUNCTION IF EXISTS note_activity(BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT),
    note_issue_activity(),
    note_event_activity(),
    note_comment_activity(),
    note_review_activity(),
    note_review_comment_activity(),
    note_commit_comment_activity(),
    note_release_activity(),
    turn_activities(),
    note_detection(),
    note_issue_text(),
    note_comment_text(),
    note_repo_text(),
    note_account_text()
    CASCADE; -- their triggers go as well
