-- Full-text search. Words are cut and folded in Go, so both engines find the same. Among the words of an
-- issue or comment is one for its repository, so that a search of one repository intersects inside the index.
-- Rows have the ids of what they index.

CREATE VIRTUAL TABLE issue_texts USING fts5(scope, title, body, content='', contentless_delete=1, tokenize='ascii');

CREATE VIRTUAL TABLE comment_texts USING fts5(scope, body, issue_id UNINDEXED,
    content='', contentless_delete=1, contentless_unindexed=1, tokenize='ascii');

-- Names, descriptions and topics of repositories.
CREATE VIRTUAL TABLE repo_texts USING fts5(a, b, c, content='', contentless_delete=1, tokenize='ascii', prefix='2 3');

-- Logins, names and e-mail addresses of accounts.
CREATE VIRTUAL TABLE account_texts USING fts5(a, b, c, content='', contentless_delete=1, tokenize='ascii', prefix='2 3');

-- A virtual table has no foreign key, and most of these rows are deleted by cascades, which only triggers see.
CREATE TRIGGER issues_drop_text AFTER DELETE ON issues BEGIN
    DELETE FROM issue_texts WHERE rowid = old.id;
END;
CREATE TRIGGER issue_comments_drop_text AFTER DELETE ON issue_comments BEGIN
    DELETE FROM comment_texts WHERE rowid = old.id;
END;
CREATE TRIGGER repos_drop_text AFTER DELETE ON repos BEGIN
    DELETE FROM repo_texts WHERE rowid = old.id;
END;
CREATE TRIGGER accounts_drop_text AFTER DELETE ON accounts BEGIN
    DELETE FROM account_texts WHERE rowid = old.id;
END;

-- Notes: issues and comments that changed since they were last indexed. A full-text index is cheap to write
-- in bulk and expensive row by row, so writers leave a note, a worker indexes, and a search reads the notes
-- first.
CREATE TABLE texts_changed (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id   BIGINT NOT NULL,
    comment_id BIGINT NOT NULL -- 0: the issue itself
);

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

-- The same notes for repositories and accounts.
CREATE TABLE names_changed (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL, -- 0: an account
    account_id BIGINT NOT NULL  -- 0: a repository
);

CREATE TRIGGER repos_new_text AFTER INSERT ON repos WHEN new.name <> '/' BEGIN
    INSERT INTO names_changed (repo_id, account_id) VALUES (new.id, 0);
END;
CREATE TRIGGER repos_other_text AFTER UPDATE OF name, description, topics ON repos
    WHEN old.name <> new.name OR old.description IS NOT new.description OR old.topics <> new.topics BEGIN
    INSERT INTO names_changed (repo_id, account_id) VALUES (new.id, 0);
END;
CREATE TRIGGER accounts_new_text AFTER INSERT ON accounts BEGIN
    INSERT INTO names_changed (repo_id, account_id) VALUES (0, new.id);
END;
CREATE TRIGGER accounts_other_text AFTER UPDATE OF login, name, email ON accounts
    WHEN old.login <> new.login OR old.name IS NOT new.name OR old.email IS NOT new.email BEGIN
    INSERT INTO names_changed (repo_id, account_id) VALUES (0, new.id);
END;
