-- The words by which repositories and accounts are found, under the ids of their rows, with which
-- they go; see 0007_search.sql. On both engines a row has three parts: of a repository its name,
-- description and topics, of an account its login, name and e-mail address.
-- sqlite
CREATE VIRTUAL TABLE repo_texts USING fts5(a, b, c, content='', contentless_delete=1, tokenize='ascii', prefix='2 3');
CREATE VIRTUAL TABLE account_texts USING fts5(a, b, c, content='', contentless_delete=1, tokenize='ascii', prefix='2 3');
CREATE TRIGGER repos_drop_text AFTER DELETE ON repos BEGIN
    DELETE FROM repo_texts WHERE rowid = old.id;
END;
CREATE TRIGGER accounts_drop_text AFTER DELETE ON accounts BEGIN
    DELETE FROM account_texts WHERE rowid = old.id;
END;

-- postgres
CREATE TABLE repo_texts (
    id    BIGINT PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL                     -- the parts have the weights A, B and C
);
CREATE INDEX repo_texts_words ON repo_texts USING GIN (words);
CREATE TABLE account_texts (
    id    BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL
);
CREATE INDEX account_texts_words ON account_texts USING GIN (words);

-- both
-- What changed since it was last indexed.
CREATE TABLE names_changed (
    id         {{id}},
    repo_id    BIGINT NOT NULL,                 -- 0: an account
    account_id BIGINT NOT NULL                  -- 0: a repository
);
INSERT INTO names_changed (repo_id, account_id) SELECT id, 0 FROM repos;
INSERT INTO names_changed (repo_id, account_id) SELECT 0, id FROM accounts;

-- sqlite
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

-- postgres
CREATE FUNCTION note_repo_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO names_changed (repo_id, account_id) VALUES (NEW.id, 0);
    RETURN NULL;
END $$;
CREATE FUNCTION note_account_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO names_changed (repo_id, account_id) VALUES (0, NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER repos_new_text AFTER INSERT ON repos FOR EACH ROW WHEN (NEW.name <> '/') EXECUTE FUNCTION note_repo_text();
CREATE TRIGGER repos_other_text AFTER UPDATE OF name, description, topics ON repos FOR EACH ROW
    WHEN (OLD.name <> NEW.name OR OLD.description IS DISTINCT FROM NEW.description OR OLD.topics <> NEW.topics)
    EXECUTE FUNCTION note_repo_text();
CREATE TRIGGER accounts_new_text AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION note_account_text();
CREATE TRIGGER accounts_other_text AFTER UPDATE OF login, name, email ON accounts FOR EACH ROW
    WHEN (OLD.login <> NEW.login OR OLD.name IS DISTINCT FROM NEW.name OR OLD.email IS DISTINCT FROM NEW.email)
    EXECUTE FUNCTION note_account_text();

-- both
CREATE INDEX repos_by_stars ON repos (stars, id);
CREATE INDEX repos_by_forks ON repos (forks_count, id);
CREATE INDEX repos_by_update ON repos (updated_at, id);
CREATE INDEX repos_by_language ON repos (lower(language), id) WHERE language IS NOT NULL;
CREATE INDEX accounts_by_followers ON accounts (followers, id);
CREATE INDEX accounts_by_repos ON accounts (public_repos, id);
CREATE INDEX accounts_by_creation ON accounts (created_at, id);
