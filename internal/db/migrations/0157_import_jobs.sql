-- Imports from other servers that users asked for (package migration/job). A row is the job and, when it has ended, its report.
CREATE TABLE import_jobs (
    repo_id    BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    url        {{text}} NOT NULL,             -- of the repository at its server, without credentials
    secret     {{text}} NOT NULL DEFAULT '',  -- the token, encrypted with a key in the data folder; empty when it has ended
    people     {{text}} NOT NULL DEFAULT '',  -- whose records become whose, as a site administrator gave it
    asked_by   BIGINT REFERENCES accounts (id),
    asked_at   BIGINT NOT NULL,
    version    BIGINT NOT NULL DEFAULT 1,     -- raised whenever it is asked for again
    active     BOOLEAN NOT NULL DEFAULT TRUE, -- it waits or runs, and the repository is read-only
    due_at     BIGINT NOT NULL DEFAULT 0,
    tries      BIGINT NOT NULL DEFAULT 0,
    part       {{text}} NOT NULL DEFAULT '',  -- what it is doing
    done       BIGINT NOT NULL DEFAULT 0,
    total      BIGINT NOT NULL DEFAULT 0,
    text_bytes BIGINT NOT NULL DEFAULT 0,     -- of the records that came, which count for the repository's owner
    ended_at   BIGINT,
    problem    {{text}} NOT NULL DEFAULT '',  -- why it ended early
    report     {{text}} NOT NULL DEFAULT ''   -- what came, and what did not, as JSON
);
CREATE INDEX import_jobs_due ON import_jobs (due_at, repo_id) WHERE active = TRUE;
CREATE INDEX import_jobs_by ON import_jobs (asked_by);
