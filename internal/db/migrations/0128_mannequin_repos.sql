-- In which repositories an import named a mannequin: owners of organizations list those of theirs.
CREATE TABLE mannequin_repos (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, repo_id)
);
CREATE INDEX mannequin_repos_of_repo ON mannequin_repos (repo_id, account_id);
INSERT INTO mannequin_repos (account_id, repo_id)
    SELECT a.id, x.repo_id FROM accounts a JOIN issues x ON x.author_id = a.id WHERE a.kind = 4
    UNION SELECT a.id, x.repo_id FROM accounts a JOIN issue_comments x ON x.author_id = a.id WHERE a.kind = 4
    UNION SELECT a.id, i.repo_id FROM accounts a JOIN reviews x ON x.author_id = a.id
        JOIN issues i ON i.id = x.issue_id WHERE a.kind = 4
    UNION SELECT a.id, x.repo_id FROM accounts a JOIN commit_comments x ON x.author_id = a.id WHERE a.kind = 4
    UNION SELECT a.id, x.repo_id FROM accounts a JOIN releases x ON x.author_id = a.id WHERE a.kind = 4;
