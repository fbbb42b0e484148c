-- Feeds of what happened.

-- The feeds: a row for each thing that happened. It names its subject and holds none of its text (package
-- activity).
CREATE TABLE activities (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    org_id     BIGINT,                        -- the organization that owns the repository; NULL: a user does
    actor_id   BIGINT NOT NULL,
    public     BOOLEAN NOT NULL,              -- everybody may see it: was_public, and the repository still is
    kind       SMALLINT NOT NULL,             -- see activity.Kind
    issue_id   BIGINT,                        -- of kinds 7 to 12
    subject_id BIGINT,                        -- the fork, member, comment, review or release
    ref        TEXT,                          -- of kinds 1 to 3; NULL: the repository itself was created
    before_sha TEXT,
    after_sha  TEXT,
    created_at BIGINT NOT NULL,
    was_public BOOLEAN NOT NULL DEFAULT FALSE -- the repository was public when it happened
);
CREATE INDEX activities_of_actor ON activities (actor_id, public, id);
CREATE INDEX activities_of_org ON activities (org_id, public, id) WHERE org_id IS NOT NULL;
CREATE INDEX activities_of_repo ON activities (repo_id, public, id);

-- Job: how far the removal of activities that no feed shows has come. One row, once that has begun.
CREATE TABLE activity_pruning (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    position BIGINT NOT NULL, -- the last activity that was looked at; 0: the next round begins
    began    BIGINT NOT NULL, -- the newest activity when this round began
    paid     BIGINT NOT NULL  -- the newest activity for which work was done
);

-- Writers of these rows make an activity in the same statement, which saves a round trip.
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
CREATE TRIGGER commit_comments_activity AFTER INSERT ON commit_comments BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 14, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;

-- A release makes an activity when it is published first, which published_at remembers.
CREATE TRIGGER releases_activity AFTER INSERT ON releases WHEN NOT new.draft BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.publisher_id, NOT r.private, NOT r.private, 13, new.id, new.published_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER releases_published_activity AFTER UPDATE OF draft ON releases
WHEN old.draft AND NOT new.draft AND old.published_at IS NULL BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.publisher_id, NOT r.private, NOT r.private, 13, new.id, new.published_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;

-- A repository that is hidden hides its activities; shown again, it shows those of its public times.
CREATE TRIGGER repos_activity AFTER UPDATE OF private ON repos WHEN old.private <> new.private BEGIN
    UPDATE activities SET public = NOT new.private WHERE repo_id = new.id AND was_public = TRUE;
END;
