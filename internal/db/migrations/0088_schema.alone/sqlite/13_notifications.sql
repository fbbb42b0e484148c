-- Notifications of issues, commits and releases.

-- Jobs: acts of which nobody was notified yet.
CREATE TABLE notification_acts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT REFERENCES issues (id) ON DELETE CASCADE, -- one of the next three is the subject
    release_id BIGINT REFERENCES releases (id) ON DELETE CASCADE,
    commit_sha TEXT,
    actor_id   BIGINT NOT NULL,
    -- All who have a part in the subject; FALSE: those in named alone.
    everyone   BOOLEAN NOT NULL,
    named      TEXT NOT NULL,                              -- a JSON object: ids of accounts by reason
    -- Those with a part were notified; watchers still are to be.
    watchers   BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,                            -- by the database's clock
    due_at     BIGINT NOT NULL DEFAULT 0,                  -- see db.Jobs
    tries      BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX notification_acts_due ON notification_acts (watchers, due_at, id);
CREATE INDEX notification_acts_of_repo ON notification_acts (repo_id, commit_sha);
CREATE INDEX notification_acts_of_issue ON notification_acts (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX notification_acts_of_release ON notification_acts (release_id) WHERE release_id IS NOT NULL;

-- What threads are about. Titles are read from their tables.
CREATE TABLE notification_subjects (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT REFERENCES issues (id) ON DELETE CASCADE,
    release_id BIGINT REFERENCES releases (id) ON DELETE CASCADE,
    commit_sha TEXT
);
CREATE UNIQUE INDEX notification_subjects_issue ON notification_subjects (issue_id) WHERE issue_id IS NOT NULL;
CREATE UNIQUE INDEX notification_subjects_release ON notification_subjects (release_id) WHERE release_id IS NOT NULL;
CREATE UNIQUE INDEX notification_subjects_commit ON notification_subjects (repo_id, commit_sha);

-- Notifications: one for each account and subject.
CREATE TABLE notification_threads (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    subject_id BIGINT NOT NULL REFERENCES notification_subjects (id) ON DELETE CASCADE,
    reason     SMALLINT NOT NULL, -- see notification.Reason
    unread     BOOLEAN NOT NULL,
    updated_at BIGINT NOT NULL,   -- when it was last notified, by the database's clock
    read_at    BIGINT
);
CREATE UNIQUE INDEX notification_threads_subject ON notification_threads (subject_id, user_id);
CREATE INDEX notification_threads_listed ON notification_threads (user_id, updated_at, id);

-- Subscriptions to commits and releases; issues have issue_subscriptions.
CREATE TABLE notification_wishes (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    subject_id BIGINT NOT NULL REFERENCES notification_subjects (id) ON DELETE CASCADE,
    wish       SMALLINT NOT NULL, -- as in issue_subscriptions
    created_at BIGINT NOT NULL,
    PRIMARY KEY (subject_id, user_id)
);
CREATE INDEX notification_wishes_of_user ON notification_wishes (user_id);

-- When somebody last marked threads, for If-Modified-Since.
CREATE TABLE notification_inboxes (
    user_id    BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    changed_at BIGINT NOT NULL
);
