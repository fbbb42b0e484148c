-- Comments on commits. Feeds tell of them: kind 14, of which subject_id is the comment.
CREATE TABLE commit_comments (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    author_id  BIGINT NOT NULL REFERENCES accounts (id),
    commit_sha {{text}} NOT NULL,
    path       {{text}},                        -- of a file, as the author gave it
    position   BIGINT,
    line       BIGINT,
    body       {{text}} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX commit_comments_of_repo ON commit_comments (repo_id, id);
CREATE INDEX commit_comments_of_commit ON commit_comments (repo_id, commit_sha, id);
CREATE INDEX commit_comments_of_author ON commit_comments (author_id);

-- sqlite
CREATE TRIGGER commit_comments_activity AFTER INSERT ON commit_comments BEGIN
    INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, subject_id, created_at)
    SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, new.author_id, NOT r.private, NOT r.private, 14, new.id, new.created_at
    FROM repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = new.repo_id;
END;

-- postgres
CREATE FUNCTION note_commit_comment_activity() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_activity(NEW.repo_id, NEW.author_id, 14, NULL, NEW.id, NEW.created_at);
    RETURN NULL;
END $$;
CREATE TRIGGER commit_comments_activity AFTER INSERT ON commit_comments FOR EACH ROW
    EXECUTE FUNCTION note_commit_comment_activity();
