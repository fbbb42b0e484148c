-- Repositories that were deleted with many issues: hidden, and gone once their issues are.
CREATE TABLE deleted_repos (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    request TEXT -- the id of the request that deleted it
);
