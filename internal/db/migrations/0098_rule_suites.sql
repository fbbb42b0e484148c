-- The suites of an organization's repositories in a time.
CREATE INDEX rule_suites_pushed ON rule_suites (repo_id, pushed_at);
