-- Whether a reply by mail made a comment.
ALTER TABLE issue_comments ADD COLUMN by_mail BOOLEAN NOT NULL DEFAULT FALSE;
