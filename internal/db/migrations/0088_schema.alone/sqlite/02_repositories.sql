-- Repositories, their refs, and who may see them.

-- Repositories. The folder of one holds its Git objects; all else about it is here.
CREATE TABLE repos (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id          BIGINT NOT NULL REFERENCES accounts (id),
    name              TEXT NOT NULL,
    name_folded       TEXT NOT NULL,                       -- in lower case
    description       TEXT,
    homepage          TEXT,
    private           BOOLEAN NOT NULL,
    default_branch    TEXT NOT NULL,
    has_issues        BOOLEAN NOT NULL DEFAULT TRUE,
    -- Grows with every change of a ref or of the default branch.
    refs_generation   BIGINT NOT NULL DEFAULT 0,
    size_kb           BIGINT NOT NULL DEFAULT 0,           -- of its Git objects
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    pushed_at         BIGINT NOT NULL,
    next_number       BIGINT NOT NULL DEFAULT 1,           -- of the next issue or pull request
    next_milestone    BIGINT NOT NULL DEFAULT 1,
    open_issues       BIGINT NOT NULL DEFAULT 0,           -- counter; pull requests count too
    issues_generation BIGINT NOT NULL DEFAULT 0,           -- grows with every change that payloads of issues show

    -- A fork names its parent and the root of its network. Both are in one network and of one visibility. A
    -- repository that leaves the network is cut out of these columns (package repo/network).
    parent_id         BIGINT REFERENCES repos (id),
    root_id           BIGINT REFERENCES repos (id),        -- NULL: it is a root itself
    forks_count       BIGINT NOT NULL DEFAULT 0,           -- counter: forks that name it as parent
    network_count     BIGINT NOT NULL DEFAULT 0,           -- counter, of a root: all forks of its network
    stars             BIGINT NOT NULL DEFAULT 0,           -- counters, which triggers on stars and watches keep
    watchers          BIGINT NOT NULL DEFAULT 0,

    -- The owner of a private fork who no longer sees the root of its network loses the fork (decision 62):
    -- the view withdrawn_forks computes that. This column marks a fork whose root was deleted since.
    withdrawn         BOOLEAN NOT NULL DEFAULT FALSE,
    -- TRUE: the folder may hold objects to which no ref leads, so each name of an object is checked (decision
    -- 60).
    unreached         BOOLEAN NOT NULL DEFAULT FALSE,
    archived          BOOLEAN NOT NULL DEFAULT FALSE,      -- read-only for everybody

    -- How many purges removed objects. Each moves what stays into a new folder, whose name holds the number.
    -- A transaction that names objects of an earlier folder is refused.
    purges            BIGINT NOT NULL DEFAULT 0,
    -- The sizes of its files, each in KiB. Forks get no files, so size_kb does not include it.
    files_kb          BIGINT NOT NULL DEFAULT 0,
    -- Bits of repo.Merging: 1 no merge commits, 2 no squashes, 4 no rebases, 8 the head branch is deleted.
    merging           BIGINT NOT NULL DEFAULT 0,
    topics            TEXT NOT NULL DEFAULT '',            -- separated by spaces, as in repo_topics
    language          TEXT,                                -- of most of the code; detected
    license           TEXT,                                -- a key of package license; detected
    is_template       BOOLEAN NOT NULL DEFAULT FALSE,      -- others may be made from it
    template_id       BIGINT REFERENCES repos (id) ON DELETE SET NULL, -- from which it was made; NULL: from none
    UNIQUE (owner_id, name_folded)
);
CREATE INDEX repos_forked ON repos (parent_id, created_at, id);
CREATE INDEX repos_of_network ON repos (root_id, owner_id, id);
-- An index for each order of an owner's list: a deep page, also of forks alone or of all others, walks that
-- index alone.
CREATE INDEX repos_named ON repos (owner_id, name_folded, private, id, parent_id);
CREATE INDEX repos_created ON repos (owner_id, created_at, id, private, parent_id);
CREATE INDEX repos_updated ON repos (owner_id, updated_at, id, private, parent_id);
CREATE INDEX repos_pushed ON repos (owner_id, pushed_at, id, private, parent_id);
CREATE INDEX repos_forked_by_stars ON repos (parent_id, stars, created_at, id) WHERE parent_id IS NOT NULL;
-- The repositories that a user starred, by last push, where these are many.
CREATE INDEX repos_by_push ON repos (pushed_at, id);
CREATE INDEX repos_forked_in_private ON repos (owner_id, id)
    WHERE withdrawn = TRUE OR (private = TRUE AND root_id IS NOT NULL);
-- The public repositories that were pushed to last.
CREATE INDEX repos_public_by_push ON repos (pushed_at, id) WHERE private = FALSE;
-- The list of all public repositories goes by id.
CREATE INDEX repos_public ON repos (id) WHERE NOT private;
-- Searches for repositories, in each order.
CREATE INDEX repos_by_stars ON repos (stars, id);
CREATE INDEX repos_by_forks ON repos (forks_count, id);
CREATE INDEX repos_by_update ON repos (updated_at, id);
CREATE INDEX repos_by_language ON repos (lower(language), id) WHERE language IS NOT NULL;
CREATE INDEX repos_of_template ON repos (template_id) WHERE template_id IS NOT NULL;

-- Names that repositories had before a rename or transfer. They still lead there.
CREATE TABLE repo_redirects (
    owner_id    BIGINT NOT NULL REFERENCES accounts (id),
    name_folded TEXT NOT NULL,
    repo_id     BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (owner_id, name_folded)
);
CREATE INDEX redirects_of_repo ON repo_redirects (repo_id);

-- Roles of single users in repositories.
CREATE TABLE collaborators (
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role       SMALLINT NOT NULL, -- 1 pull, 2 push, 3 admin
    created_at BIGINT NOT NULL,
    PRIMARY KEY (repo_id, user_id)
);
CREATE INDEX collaborations_of_user ON collaborators (user_id, repo_id);

-- The refs of all repositories. This is the truth; a repository's folder has at most a copy.
CREATE TABLE refs (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    sha     TEXT NOT NULL,
    peeled  TEXT, -- of an annotated tag: the object to which it leads in the end
    PRIMARY KEY (repo_id, name)
);

-- Objects that the API wrote without a ref, and the old values of refs that moved or were deleted. Callers
-- who may push find these for a time.
CREATE TABLE unreached_objects (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha     TEXT NOT NULL,
    at      BIGINT NOT NULL, -- when it was written, or no ref led to it any more
    PRIMARY KEY (repo_id, sha)
);
CREATE INDEX unreached_objects_of_repo ON unreached_objects (repo_id, at);
CREATE INDEX unreached_objects_by_age ON unreached_objects (at);

-- Private forks whose owners do not see the root of the network. For an organization, one of its owners has to
-- see the root.
CREATE VIEW withdrawn_forks AS SELECT f.id, f.owner_id, f.root_id FROM repos f
WHERE (f.withdrawn = TRUE OR (f.private = TRUE AND f.root_id IS NOT NULL))
    AND (f.withdrawn = TRUE OR NOT EXISTS (
        SELECT 1 FROM repos s JOIN accounts so ON so.id = s.owner_id
        WHERE s.id = f.root_id AND (s.owner_id = f.owner_id OR EXISTS (
            SELECT 1 FROM (SELECT f.owner_id AS id
                UNION ALL SELECT x.user_id FROM members x WHERE x.org_id = f.owner_id AND x.owner = TRUE) h
            JOIN accounts a ON a.id = h.id
            LEFT JOIN members m ON m.org_id = s.owner_id AND m.user_id = h.id
            LEFT JOIN collaborators c ON c.repo_id = s.id AND c.user_id = h.id
            WHERE h.id = s.owner_id OR a.site_admin = TRUE OR m.owner = TRUE
                OR (m.owner IS NOT NULL AND so.default_role > 0) OR c.role > 0))));

-- The topics of repos.topics once more, to find repositories by them.
CREATE TABLE repo_topics (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    topic   TEXT NOT NULL,
    PRIMARY KEY (repo_id, topic)
);
CREATE INDEX repo_topics_by_topic ON repo_topics (topic, repo_id);

-- How much code a repository has in each language.
CREATE TABLE repo_languages (
    repo_id   BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    tree_sha  TEXT NOT NULL, -- the tree that was counted
    languages TEXT NOT NULL  -- a JSON object: bytes by language, most first
);

-- Jobs: repositories whose default branch may have moved since languages and license were detected.
CREATE TABLE detections (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL, -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX detections_due ON detections (due_at, repo_id);

-- Jobs: repositories that were deleted and have many issues. They are hidden, and go when their issues are
-- gone.
CREATE TABLE deleted_repos (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    request TEXT -- the id of the request that deleted it, for the log
);
