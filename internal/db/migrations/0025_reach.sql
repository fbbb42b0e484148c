-- An activity keeps the visibility that its repository had when it happened.
-- public says what everybody may see now: it was public, and the repository is.
ALTER TABLE activities ADD COLUMN was_public BOOLEAN NOT NULL DEFAULT FALSE;

-- Of what there is, that much is known: what a repository shows now is public,
-- but for what happened before it was made public (kind 5).
UPDATE activities SET was_public = public;
UPDATE activities SET public = FALSE, was_public = FALSE
    FROM (SELECT repo_id AS turned, max(id) AS last FROM activities WHERE kind = 5 GROUP BY repo_id) t
    WHERE repo_id = t.turned AND id < t.last;

DROP INDEX activities_of_repo;
CREATE INDEX activities_of_repo ON activities (repo_id, public, id);

-- What no ref of a repository leads to is not there (decision 60). unreached says
-- that there may be such objects; only then is any name of an object checked.
-- Nobody knows of the repositories that exist, so it is set in all of them.
ALTER TABLE repos ADD COLUMN unreached BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE repos SET unreached = TRUE;

-- Objects that the API wrote without a ref, and what refs named until they moved
-- elsewhere or were deleted: those who may push find these for a time.
CREATE TABLE unreached_objects (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha     {{text}} NOT NULL,
    at      BIGINT NOT NULL,                    -- when it was written, or became unreachable
    PRIMARY KEY (repo_id, sha)
);
CREATE INDEX unreached_objects_of_repo ON unreached_objects (repo_id, at);
CREATE INDEX unreached_objects_by_age ON unreached_objects (at);

-- sqlite
DROP TRIGGER issues_activity;
DROP TRIGGER issue_events_activity;
DROP TRIGGER issue_comments_activity;
DROP TRIGGER reviews_activity;
DROP TRIGGER reviews_submitted_activity;
DROP TRIGGER review_comments_activity;
DROP TRIGGER review_comments_shown_activity;
DROP TRIGGER repos_activity;
CREATE TRIGGER issues_activity AFTER INSERT ON issues BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 7, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER issue_events_activity AFTER INSERT ON issue_events WHEN new.kind IN (1, 2) BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.actor_id, NOT r.private, NOT r.private, new.kind + 7, new.issue_id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER issue_comments_activity AFTER INSERT ON issue_comments BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 10, new.issue_id, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER reviews_activity AFTER INSERT ON reviews WHEN new.submitted_at IS NOT NULL BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 11, new.issue_id, new.id, new.submitted_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER reviews_submitted_activity AFTER UPDATE OF submitted_at ON reviews
    WHEN old.submitted_at IS NULL AND new.submitted_at IS NOT NULL BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 11, new.issue_id, new.id, new.submitted_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER review_comments_activity AFTER INSERT ON review_comments WHEN NOT new.pending BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 12, new.issue_id, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER review_comments_shown_activity AFTER UPDATE OF pending ON review_comments WHEN old.pending AND NOT new.pending BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 12, new.issue_id, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER repos_activity AFTER UPDATE OF private ON repos WHEN old.private <> new.private BEGIN
    UPDATE activities SET public = NOT new.private WHERE repo_id = new.id AND was_public = TRUE;
END;

-- postgres
CREATE OR REPLACE FUNCTION note_activity(repo BIGINT, actor BIGINT, what BIGINT, issue BIGINT, subject BIGINT, at BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, actor, NOT r.private, NOT r.private, what, issue, subject, at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = repo;
END $$;
CREATE OR REPLACE FUNCTION turn_activities() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activities SET public = NOT NEW.private WHERE repo_id = NEW.id AND was_public;
    RETURN NULL;
END $$;
