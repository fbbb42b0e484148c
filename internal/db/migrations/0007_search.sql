-- The words of issues and of comments, under the ids of their rows, with which
-- they go. The engines are given words that are cut and folded already, and a
-- word for the repository, so that a search of one intersects inside the index.
-- sqlite
CREATE VIRTUAL TABLE issue_texts USING fts5(scope, title, body, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE comment_texts USING fts5(scope, body, issue_id UNINDEXED,
    content='', contentless_delete=1, contentless_unindexed=1, tokenize='ascii');
CREATE TRIGGER issues_drop_text AFTER DELETE ON issues BEGIN
    DELETE FROM issue_texts WHERE rowid = old.id;
END;
CREATE TRIGGER issue_comments_drop_text AFTER DELETE ON issue_comments BEGIN
    DELETE FROM comment_texts WHERE rowid = old.id;
END;

-- postgres
CREATE TABLE issue_texts (
    id    BIGINT PRIMARY KEY REFERENCES issues (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL                     -- the title has the weight A, the body B
);
CREATE INDEX issue_texts_words ON issue_texts USING GIN (words);
CREATE TABLE comment_texts (
    id       BIGINT PRIMARY KEY REFERENCES issue_comments (id) ON DELETE CASCADE,
    issue_id BIGINT NOT NULL,
    words    TSVECTOR NOT NULL
);
CREATE INDEX comment_texts_words ON comment_texts USING GIN (words);

-- both
-- What changed since it was last indexed: a full-text index is cheap to write in
-- bulk and dear row by row, so whoever writes an issue leaves a note here, and
-- whoever searches reads the notes first.
CREATE TABLE texts_changed (
    id         {{id}},
    issue_id   BIGINT NOT NULL,
    comment_id BIGINT NOT NULL                  -- 0: the issue itself
);
INSERT INTO texts_changed (issue_id, comment_id) SELECT id, 0 FROM issues;
INSERT INTO texts_changed (issue_id, comment_id) SELECT issue_id, id FROM issue_comments;

-- sqlite
CREATE TRIGGER issues_new_text AFTER INSERT ON issues BEGIN
    INSERT INTO texts_changed (issue_id, comment_id) VALUES (new.id, 0);
END;
CREATE TRIGGER issues_other_text AFTER UPDATE OF title, body ON issues
    WHEN old.title <> new.title OR old.body IS NOT new.body BEGIN
    INSERT INTO texts_changed (issue_id, comment_id) VALUES (new.id, 0);
END;
CREATE TRIGGER issue_comments_new_text AFTER INSERT ON issue_comments BEGIN
    INSERT INTO texts_changed (issue_id, comment_id) VALUES (new.issue_id, new.id);
END;
CREATE TRIGGER issue_comments_other_text AFTER UPDATE OF body ON issue_comments WHEN old.body <> new.body BEGIN
    INSERT INTO texts_changed (issue_id, comment_id) VALUES (new.issue_id, new.id);
END;

-- postgres
CREATE FUNCTION note_issue_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO texts_changed (issue_id, comment_id) VALUES (NEW.id, 0);
    RETURN NULL;
END $$;
CREATE FUNCTION note_comment_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO texts_changed (issue_id, comment_id) VALUES (NEW.issue_id, NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER issues_new_text AFTER INSERT ON issues FOR EACH ROW EXECUTE FUNCTION note_issue_text();
CREATE TRIGGER issues_other_text AFTER UPDATE OF title, body ON issues FOR EACH ROW
    WHEN (OLD.title <> NEW.title OR OLD.body IS DISTINCT FROM NEW.body) EXECUTE FUNCTION note_issue_text();
CREATE TRIGGER issue_comments_new_text AFTER INSERT ON issue_comments FOR EACH ROW EXECUTE FUNCTION note_comment_text();
CREATE TRIGGER issue_comments_other_text AFTER UPDATE OF body ON issue_comments FOR EACH ROW
    WHEN (OLD.body <> NEW.body) EXECUTE FUNCTION note_comment_text();

-- both
CREATE INDEX issue_comments_by_author ON issue_comments (author_id, issue_id);
