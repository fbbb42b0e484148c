-- What happened, for the activity feeds: a small row each, which names what it
-- tells of and holds nothing of it. Triggers write the rows of issues, comments
-- and reviews, in the statement that they follow from, so that no request pays
-- for another round trip.
CREATE TABLE activities (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    org_id     BIGINT,                          -- that owns the repository; NULL: a user does
    actor_id   BIGINT NOT NULL,
    public     BOOLEAN NOT NULL,                -- as the repository is, so that a feed walks one index
    kind       SMALLINT NOT NULL,               -- 1 push, 2 create, 3 delete, 4 fork, 5 public, 6 member, 7 open, 8 close,
                                                -- 9 reopen, 10 comment, 11 review, 12 review comment
    issue_id   BIGINT,                          -- of 7 to 12
    subject_id BIGINT,                          -- the fork, the member, the comment, the review
    ref        {{text}},                        -- of 1 to 3; NULL: the repository itself was created
    before_sha {{text}},
    after_sha  {{text}},
    created_at BIGINT NOT NULL
);
CREATE INDEX activities_of_repo ON activities (repo_id, id);
CREATE INDEX activities_of_actor ON activities (actor_id, public, id);
CREATE INDEX activities_of_org ON activities (org_id, public, id) WHERE org_id IS NOT NULL;

-- What there is already, as far as it is known who did it.
INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
SELECT x.repo_id, CASE WHEN o.kind = 2 THEN o.id END, x.actor_id, NOT r.private, x.kind, x.issue_id, x.subject_id, x.created_at
FROM (
    SELECT f.id AS repo_id, f.owner_id AS actor_id, 2 AS kind, CAST(NULL AS BIGINT) AS issue_id, CAST(NULL AS BIGINT) AS subject_id, f.created_at
        FROM repos f JOIN accounts a ON a.id = f.owner_id WHERE f.parent_id IS NULL AND a.kind = 1
    UNION ALL SELECT f.parent_id, f.owner_id, 4, NULL, f.id, f.created_at
        FROM repos f JOIN accounts a ON a.id = f.owner_id WHERE f.parent_id IS NOT NULL AND a.kind = 1
    UNION ALL SELECT repo_id, author_id, 7, id, NULL, created_at FROM issues
    UNION ALL SELECT repo_id, actor_id, kind + 7, issue_id, NULL, created_at FROM issue_events WHERE kind IN (1, 2)
    UNION ALL SELECT repo_id, author_id, 10, issue_id, id, created_at FROM issue_comments
    UNION ALL SELECT repo_id, author_id, 11, issue_id, id, submitted_at FROM reviews WHERE submitted_at IS NOT NULL
    UNION ALL SELECT repo_id, author_id, 12, issue_id, id, created_at FROM review_comments WHERE NOT pending
) x JOIN repos r ON r.id = x.repo_id JOIN accounts o ON o.id = r.owner_id
ORDER BY x.created_at, x.kind;

-- sqlite
CREATE TRIGGER issues_activity AFTER INSERT ON issues BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, 7, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER issue_events_activity AFTER INSERT ON issue_events WHEN new.kind IN (1, 2) BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.actor_id, NOT r.private, new.kind + 7, new.issue_id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER issue_comments_activity AFTER INSERT ON issue_comments BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, 10, new.issue_id, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER reviews_activity AFTER INSERT ON reviews WHEN new.submitted_at IS NOT NULL BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, 11, new.issue_id, new.id, new.submitted_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER reviews_submitted_activity AFTER UPDATE OF submitted_at ON reviews
    WHEN old.submitted_at IS NULL AND new.submitted_at IS NOT NULL BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, 11, new.issue_id, new.id, new.submitted_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER review_comments_activity AFTER INSERT ON review_comments WHEN NOT new.pending BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, 12, new.issue_id, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER review_comments_shown_activity AFTER UPDATE OF pending ON review_comments WHEN old.pending AND NOT new.pending BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, 12, new.issue_id, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;
CREATE TRIGGER repos_activity AFTER UPDATE OF private ON repos WHEN old.private <> new.private BEGIN
    UPDATE activities SET public = NOT new.private WHERE repo_id = new.id;
END;

-- postgres
CREATE FUNCTION note_activity(repo BIGINT, actor BIGINT, what BIGINT, issue BIGINT, subject BIGINT, at BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, kind, issue_id, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, actor, NOT r.private, what, issue, subject, at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = repo;
END $$;
CREATE FUNCTION note_issue_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.author_id, 7, NEW.id, NULL, NEW.created_at);
    RETURN NULL;
END $$;
CREATE FUNCTION note_event_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.actor_id, NEW.kind + 7, NEW.issue_id, NULL, NEW.created_at);
    RETURN NULL;
END $$;
CREATE FUNCTION note_comment_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.author_id, 10, NEW.issue_id, NEW.id, NEW.created_at);
    RETURN NULL;
END $$;
CREATE FUNCTION note_review_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.author_id, 11, NEW.issue_id, NEW.id, NEW.submitted_at);
    RETURN NULL;
END $$;
CREATE FUNCTION note_review_comment_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.author_id, 12, NEW.issue_id, NEW.id, NEW.created_at);
    RETURN NULL;
END $$;
CREATE FUNCTION turn_activities() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activities SET public = NOT NEW.private WHERE repo_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER issues_activity AFTER INSERT ON issues FOR EACH ROW EXECUTE FUNCTION note_issue_activity();
CREATE TRIGGER issue_events_activity AFTER INSERT ON issue_events FOR EACH ROW
    WHEN (NEW.kind IN (1, 2)) EXECUTE FUNCTION note_event_activity();
CREATE TRIGGER issue_comments_activity AFTER INSERT ON issue_comments FOR EACH ROW EXECUTE FUNCTION note_comment_activity();
CREATE TRIGGER reviews_activity AFTER INSERT ON reviews FOR EACH ROW
    WHEN (NEW.submitted_at IS NOT NULL) EXECUTE FUNCTION note_review_activity();
CREATE TRIGGER reviews_submitted_activity AFTER UPDATE OF submitted_at ON reviews FOR EACH ROW
    WHEN (OLD.submitted_at IS NULL AND NEW.submitted_at IS NOT NULL) EXECUTE FUNCTION note_review_activity();
CREATE TRIGGER review_comments_activity AFTER INSERT ON review_comments FOR EACH ROW
    WHEN (NOT NEW.pending) EXECUTE FUNCTION note_review_comment_activity();
CREATE TRIGGER review_comments_shown_activity AFTER UPDATE OF pending ON review_comments FOR EACH ROW
    WHEN (OLD.pending AND NOT NEW.pending) EXECUTE FUNCTION note_review_comment_activity();
CREATE TRIGGER repos_activity AFTER UPDATE OF private ON repos FOR EACH ROW
    WHEN (OLD.private <> NEW.private) EXECUTE FUNCTION turn_activities();
