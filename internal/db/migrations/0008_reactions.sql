-- Who reacted to what. Subjects live in several tables, so no foreign key
-- removes what hangs on one: whoever deletes a subject does.
CREATE TABLE reactions (
    id           {{id}},
    repo_id      BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    subject_kind SMALLINT NOT NULL,             -- 1 issue, 2 issue comment, 3 review comment, 4 commit comment
    subject_id   BIGINT NOT NULL,
    user_id      BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    content      SMALLINT NOT NULL,             -- 1 +1, 2 -1, 3 laugh, 4 hooray, 5 confused, 6 heart, 7 rocket, 8 eyes
    created_at   BIGINT NOT NULL,
    UNIQUE (subject_kind, subject_id, content, user_id)  -- in this order it is also what counting walks
);
CREATE INDEX reactions_listed ON reactions (subject_kind, subject_id, id);
CREATE INDEX reactions_of_repo ON reactions (repo_id);
CREATE INDEX reactions_of_user ON reactions (user_id);
