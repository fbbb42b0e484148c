-- Words that texts of a repository link to other systems, such as TICKET-7.
CREATE TABLE autolinks (
    id           {{id}},
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    key_prefix   {{text}} NOT NULL,
    url_template {{text}} NOT NULL,
    alphanumeric BOOLEAN NOT NULL,
    created_at   BIGINT NOT NULL
);
CREATE INDEX autolinks_of_repo ON autolinks (repo_id, id);
