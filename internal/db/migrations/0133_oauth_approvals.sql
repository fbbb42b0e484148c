-- Organizations in which an OAuth App acts for people only if the organization approved it (package oauth).
CREATE TABLE oauth_restrictions (
    org_id     BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL
);

CREATE TABLE oauth_approvals (
    org_id     BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    app_id     BIGINT NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    approved   BOOLEAN,                          -- NULL: a member asked, and no owner has decided
    asked_by   BIGINT REFERENCES accounts (id),  -- NULL: nobody asked
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, app_id)
);
CREATE INDEX oauth_approvals_of_app ON oauth_approvals (app_id);
CREATE INDEX oauth_approvals_asked_by ON oauth_approvals (asked_by) WHERE asked_by IS NOT NULL;
