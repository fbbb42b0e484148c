-- Statistics of the commits of default branches (package statistic): as JSON, for the head that was counted.
CREATE TABLE repo_statistics (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    tip_sha {{text}} NOT NULL,
    counts  {{text}} NOT NULL
);
-- Jobs: repositories whose statistics somebody waits for.
CREATE TABLE statistics_jobs (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL, -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX statistics_jobs_due ON statistics_jobs (due_at, repo_id);
