-- Files that people put into texts of a repository: pictures of issues, logs. The files themselves are in the table files.
CREATE TABLE attachments (
    id           {{id}},
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    file_id      BIGINT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    address_key  {{text}} NOT NULL UNIQUE,      -- random: 26 letters and digits of its address
    name         {{text}} NOT NULL,
    content_type {{text}} NOT NULL,             -- as the content says, never the uploader
    size         BIGINT NOT NULL,               -- as of the file
    uploader_id  BIGINT NOT NULL REFERENCES accounts (id),
    created_at   BIGINT NOT NULL
);
CREATE INDEX attachments_of_file ON attachments (file_id);
CREATE INDEX attachments_listed ON attachments (repo_id, id);
CREATE INDEX attachments_by_size ON attachments (repo_id, size, id);
CREATE INDEX attachments_by_uploader ON attachments (uploader_id, repo_id, id);
