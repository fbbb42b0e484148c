-- Rules about refs, see package rule: rulesets of repositories and organizations, and protections of branches.

-- A protection of a branch is a ruleset with its own addresses; its name is the pattern of its branches.
CREATE TABLE rulesets (
    id          {{id}},
    repo_id     BIGINT REFERENCES repos (id) ON DELETE CASCADE, -- one of repo_id and org_id is set
    org_id      BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    protection  BOOLEAN NOT NULL,
    name        {{text}} NOT NULL,
    target      SMALLINT NOT NULL, -- 1 branches, 2 tags, 3 all refs
    enforcement SMALLINT NOT NULL, -- 0 disabled, 1 evaluated, 2 active
    body        {{text}} NOT NULL, -- JSON: conditions, rules and who may bypass them
    version     BIGINT NOT NULL,   -- incremented with each change
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX rulesets_of_repo ON rulesets (repo_id, protection, name) WHERE repo_id IS NOT NULL;
CREATE UNIQUE INDEX rulesets_of_org ON rulesets (org_id, name) WHERE org_id IS NOT NULL;

-- Whether there are any: so an update of a ref without rules costs no statement more.
ALTER TABLE repos ADD COLUMN ruled BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE accounts ADD COLUMN ruled BOOLEAN NOT NULL DEFAULT FALSE;

-- What rules said about an update of a ref, the newest thousand of each repository.
CREATE TABLE rule_suites (
    id          {{id}},
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    actor_id    BIGINT NOT NULL,
    ref         {{text}} NOT NULL,
    before_sha  {{text}} NOT NULL,
    after_sha   {{text}} NOT NULL,
    result      SMALLINT NOT NULL, -- 1 pass, 2 fail, 3 bypass
    evaluated   SMALLINT NOT NULL, -- 0 nothing, else the result of rulesets that are only evaluated
    evaluations {{text}} NOT NULL, -- JSON
    pushed_at   BIGINT NOT NULL
);
CREATE INDEX rule_suites_of_repo ON rule_suites (repo_id, id);

-- Who moved the head last; 0: nobody since the pull request was opened.
ALTER TABLE pulls ADD COLUMN pushed_by BIGINT NOT NULL DEFAULT 0;
