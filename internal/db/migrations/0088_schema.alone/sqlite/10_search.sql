-- Full-text search. Words are cut and folded in Go, so both engines find the same. Among the words of an
-- issue or comment is one for its repository, so that a search of one repository intersects inside the index.
-- Rows have the ids of what they index.

CREATE VIRTUAL TABLE issue_texts USING fts5(scope, title, body,
    content='', contentless_delete=1, tokenize='ascii');

CREATE VIRTUAL TABLE comment_texts USING fts5(scope, body, issue_id UNINDEXED,
    content='', contentless_delete=1, contentless_unindexed=1, tokenize='ascii');

-- Names, descriptions and topics of repositories.
CREATE VIRTUAL TABLE repo_texts USING fts5(a, b, c,
    content='', contentless_delete=1, tokenize='ascii', prefix='2 3');

-- Logins, names and e-mail addresses of accounts.
CREATE VIRTUAL TABLE account_texts USING fts5(a, b, c,
    content='', contentless_delete=1, tokenize='ascii', prefix='2 3');

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

-- The same notes for repositories and accounts.
CREATE TABLE names_changed (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL, -- 0: an account
    account_id BIGINT NOT NULL  -- 0: a repository
);
